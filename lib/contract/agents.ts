import { id } from './shapes.ts';

export const AgentId = id('ag');
