export { attemptsOf, createTask, moveTask, newToken, register, tokenCommand } from './requests.ts';
