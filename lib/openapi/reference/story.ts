import { standardModel } from '../../contract/models.ts';

/**
 * What the examples tell of: one agent, one task that waits for another, one run, one webhook. The ids are the same
 * throughout, so that who reads one example knows the next.
 */
export const story = {
  taskId: 'tk_01K9Z3T6V0QW8E5R7T9Y1AB2CD',
  dependencyId: 'tk_01K9Z3P2M4N6Q8S0V2X4Z6A8BC',
  agentId: 'ag_01K9Z2A0B1C2D3E4F5G6H7J8K9',
  agentName: 'builder',
  reviewerName: 'proofreader',
  skillId: 'sk_code-review',
  executionId: 'ex_01K9Z4C0D1E2F3G4H5J6K7M8N9',
  delegationId: 'dl_01K9Z4F2G3H4J5K6M7N8P9Q0R1',
  webhookId: 'wh_01K9Z1A2B3C4D5E6F7G8H9J0K1',
  deliveryId: 'dlv_01K9Z4C0F6T8V0X2Z4B6D8F0H2',
  projectId: 'proj_website',
  model: standardModel,
  input: 'Build the landing page after the drawing.',
  hired: '2026-11-14T08:30:00.000Z',
  planned: '2026-11-14T09:00:00.000Z',
  started: '2026-11-14T09:30:00.000Z',
  ended: '2026-11-14T09:30:42.000Z',
  durationMs: 42_000,
  tokensUsed: 3_187,
} as const;
