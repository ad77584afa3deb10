import { standardModel } from './models.ts';

/**
 * The values that the examples of all endpoints share: one agent, one task with a dependency, one execution, one
 * webhook. Each is a separate constant, so that a function's bundle contains only those of its own endpoint.
 */
export const taskId = 'tk_01K9Z3T6V0QW8E5R7T9Y1AB2CD';
export const dependencyId = 'tk_01K9Z3P2M4N6Q8S0V2X4Z6A8BC';
export const agentId = 'ag_01K9Z2A0B1C2D3E4F5G6H7J8K9';
export const agentName = 'builder';
export const reviewerName = 'proofreader';
export const skillId = 'sk_code-review';
export const executionId = 'ex_01K9Z4C0D1E2F3G4H5J6K7M8N9';
export const delegationId = 'dl_01K9Z4F2G3H4J5K6M7N8P9Q0R1';
export const webhookId = 'wh_01K9Z1A2B3C4D5E6F7G8H9J0K1';
export const deliveryId = 'dlv_01K9Z4C0F6T8V0X2Z4B6D8F0H2';
export const projectId = 'proj_website';
export const model = standardModel;
export const input = 'Build the landing page after the drawing.';
export const hired = '2026-11-14T08:30:00.000Z';
export const planned = '2026-11-14T09:00:00.000Z';
export const started = '2026-11-14T09:30:00.000Z';
export const ended = '2026-11-14T09:30:42.000Z';
export const durationMs = 42_000;
export const tokensUsed = 3_187;
