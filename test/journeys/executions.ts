export { createAgent, endOf, execute, newScript } from './requests.ts';
