import { standardModel } from './agents/models.ts';

/**
 * The values that the examples of all endpoints share: one agent, one task with a dependency, one execution, one
 * webhook. Each is a separate constant, so that a function's bundle contains only the values of its own endpoint.
 *
 * The first example of each endpoint works on a new organization: its body names only resources that every organization
 * has. Its path names the system agent `qa-reviewer`; if it changes the agent, it names `builder`, which the example of
 * `createAgent` creates. Only ids that the service generates have to be replaced. Some
 * examples also need other items: `redeliverDelivery` a delivery that has ended, `cancelExecution` a running execution,
 * `getEvent` an event, claims a task that waits for a worker, `reviewTask` a task that waits for a review, and the
 * operations on a comment a written comment.
 */
export const taskId = 'tk_01K9Z3T6V0QW8E5R7T9Y1AB2CD';
export const dependencyId = 'tk_01K9Z3P2M4N6Q8S0V2X4Z6A8BC';
export const agentId = 'ag_01K9Z2A0B1C2D3E4F5G6H7J8K9';
export const agentName = 'builder';
export const systemAgentId = 'ag_01K9Z0A0B1C2D3E4F5G6H7J8K9';
export const systemAgentName = 'qa-reviewer';
export const otherSystemAgentName = 'prompt-improver';
export const skillId = 'sk_code-review';
/** The system prompt of `builder`, and its hash. */
export const systemPrompt = 'You build web pages. Answer with the whole page, in HTML and CSS alone.';
export const promptHash = 'sha256:56de6f5a3b52160f681c21bb845e8ecdc660880303452d0fa7828eecd8606adc';
export const claimId = 'cl_01K9Z3V2W4X6Y8Z0A2B4C6D8E0';
export const commentId = 'cm_01K9Z3W2X4Y6Z8A0B2C4D6E8F0';
export const historyEntryId = 'hi_01K9Z3X2Y4Z6A8B0C2D4E6F8G0';
export const worker = 'laptop of Ada';
export const executionId = 'ex_01K9Z4C0D1E2F3G4H5J6K7M8N9';
export const delegationId = 'dl_01K9Z4F2G3H4J5K6M7N8P9Q0R1';
export const webhookId = 'wh_01K9Z1A2B3C4D5E6F7G8H9J0K1';
export const eventId = 'ev_01K9Z4C0F6A1C3E5G7J9M1P3R5';
export const deliveryId = 'dlv_01K9Z4C0F6T8V0X2Z4B6D8F0H2';
export const recoveryId = 'rc_01K9Z4K0G7T9V1X3Z5B7D9F1H3';
export const improvementId = 'im_01K9Z4M0H8V0X2Z4A6C8E0G2J4';
export const tokenId = '3Zk8QvT1mWcA';
export const projectId = 'proj_website';
export const model = standardModel;
export const input = 'What makes a task easy to review?';
export const founded = '2026-11-14T08:00:00.000Z';
export const hired = '2026-11-14T08:30:00.000Z';
export const planned = '2026-11-14T09:00:00.000Z';
export const started = '2026-11-14T09:30:00.000Z';
export const ended = '2026-11-14T09:30:42.000Z';
/** Five minutes after `ended`. */
export const retried = '2026-11-14T09:35:42.000Z';
/** A day after `ended`. */
export const overlapEnd = '2026-11-15T09:30:42.000Z';
export const durationMs = 42_000;
export const tokensUsed = 3_187;
export const etag = '"qk3Zv81TmWcA_x5s"';
