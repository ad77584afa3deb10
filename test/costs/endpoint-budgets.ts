import type { endpoints } from '../../lib/contract/endpoints.ts';
import type { Operation } from '../../lib/contract/routes.ts';
import { type Usage, usage } from './usage.ts';

/** The rows with a scope. */
type Guarded = {
  [Name in Operation]: (typeof endpoints)[Name] extends { scope: unknown } ? Name : never;
}[Operation];

/**
 * The usage of requests to these rows, beside their line in the log. A row needs no budget; where it has one, a test
 * measures exactly the same, so that docs/costs.md stays correct.
 *
 * Items have a text of half a kilobyte. The token was read before; reading it is `tokenBudget`.
 */
export const endpointBudgets = {
  listTasks: {
    '20 of 100': usage({ requests: 2, rounds: 1, rcu: 5 }),
    'with an agent': usage({ requests: 3, rounds: 2, rcu: 22 }),
    'with a status': usage({ requests: 6, rounds: 2, rcu: 22 }),
    'with a priority': usage({ requests: 8, rounds: 2, rcu: 27 }),
    'with agent, status and priority': usage({ requests: 3, rounds: 2, rcu: 7 }),
    'from offset 70': usage({ requests: 2, rounds: 1, rcu: 16 }),
    'that wait for a review': usage({ requests: 10, rounds: 2, rcu: 29 }),
    'with the blockers of 20, each of five dependencies': usage({ requests: 3, rounds: 2, rcu: 11 }),
  },
  countTasks: {
    'by status, of 100': usage({ requests: 1, rounds: 1, rcu: 1 }),
    'by status, with an agent': usage({ requests: 1, rounds: 1, rcu: 1 }),
    'by agent, of 25': usage({ requests: 27, rounds: 2, rcu: 31 }),
  },
  listReadyTasks: {
    '20 of 100': usage({ requests: 9, rounds: 2, rcu: 28 }),
    '20, each of five dependencies': usage({ requests: 10, rounds: 3, rcu: 33 }),
  },
  searchTasks: {
    '20 of 10,000': usage({ requests: 2, rounds: 2, rcu: 39.5 }),
    'none of 10,000': usage({ requests: 10, rounds: 10, rcu: 195 }),
    'none of 100,000, the first of ten requests': usage({ requests: 10, rounds: 10, rcu: 195 }),
  },
  claimTask: {
    bare: usage({ requests: 2, rounds: 2, rcu: 1, wcu: 8, indexWcu: 1 }),
    'with an agent': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 14, indexWcu: 1 }),
    'with both': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 26, indexWcu: 1 }),
  },
  claimNextTask: {
    'of 20': usage({ requests: 10, rounds: 3, rcu: 9, wcu: 14, indexWcu: 1 }),
    'of none': usage({ requests: 8, rounds: 1, rcu: 8 }),
  },
  renewClaim: { bare: usage({ requests: 2, rounds: 2, rcu: 1, wcu: 1, indexWcu: 2 }) },
  releaseTask: {
    bare: usage({ requests: 2, rounds: 2, rcu: 1, wcu: 8, indexWcu: 1 }),
    'with both': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 26, indexWcu: 1 }),
  },
  takeBackTask: { bare: usage({ requests: 2, rounds: 2, rcu: 1, wcu: 8, indexWcu: 1 }) },
  reviewTask: {
    'accepted, with both': usage({ requests: 3, rounds: 2, rcu: 2, wcu: 26 }),
    'sent back, with both': usage({ requests: 3, rounds: 2, rcu: 2, wcu: 32 }),
  },
  listComments: { '20 of 100': usage({ requests: 3, rounds: 1, rcu: 6 }) },
  commentOnTask: { bare: usage({ requests: 2, rounds: 2, rcu: 1, wcu: 6 }) },
  updateComment: { bare: usage({ requests: 3, rounds: 2, rcu: 2, wcu: 4 }) },
  createTask: {
    bare: usage({ requests: 1, rounds: 1, wcu: 6 }),
    'with an agent': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 12 }),
    'with a project': usage({ requests: 1, rounds: 1, wcu: 12 }),
    'with both': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 24 }),
    'with five dependencies': usage({ requests: 2, rounds: 2, rcu: 5, wcu: 16 }),
    'with an Idempotency-Key': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 8 }),
  },
  getTask: {
    bare: usage({ requests: 1, rounds: 1, rcu: 1 }),
    'with five dependencies': usage({ requests: 2, rounds: 2, rcu: 6 }),
  },
  updateTask: {
    'its text': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 1 }),
    'its status': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 8 }),
    'its status, with an agent': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 14 }),
    'its status, with both': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 26 }),
    'a new dependency': usage({ requests: 5, rounds: 5, rcu: 4, wcu: 12 }),
    nothing: usage({ requests: 1, rounds: 1, rcu: 1 }),
  },
  deleteTask: {
    bare: usage({ requests: 2, rounds: 2, rcu: 1, wcu: 8 }),
    'with both': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 26 }),
    'with five dependencies': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 18 }),
  },
  listAgents: { '20 of 25': usage({ requests: 1, rounds: 1, rcu: 6 }) },
  createAgent: {
    'with the default model': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 6 }),
    'with a model': usage({ requests: 1, rounds: 1, wcu: 6 }),
  },
  getAgent: { 'with a prompt': usage({ requests: 2, rounds: 2, rcu: 2 }) },
  updateAgent: {
    'its name': usage({ requests: 3, rounds: 3, rcu: 2, wcu: 1 }),
    'its prompt': usage({ requests: 3, rounds: 3, rcu: 2, wcu: 6 }),
    nothing: usage({ requests: 2, rounds: 2, rcu: 2 }),
    'to inactive, with three running executions': usage({ requests: 8, rounds: 5, rcu: 4, wcu: 4 }),
  },
  deleteAgent: {
    'without executions': usage({ requests: 8, rounds: 6, rcu: 7, wcu: 4, indexWcu: 1 }),
    'with an execution': usage({ requests: 10, rounds: 8, rcu: 11, wcu: 8, indexWcu: 1 }),
  },
  listSkills: { two: usage({ requests: 2, rounds: 2, rcu: 2 }) },
  assignSkill: { one: usage({ requests: 3, rounds: 3, rcu: 2, wcu: 4 }) },
  unassignSkill: { one: usage({ requests: 2, rounds: 2, rcu: 1, wcu: 4 }) },
  updateSoul: { another: usage({ requests: 3, rounds: 3, rcu: 2, wcu: 1 }) },
  executeAgent: {
    'without a task': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 10, indexWcu: 1 }),
    'with a task': usage({ requests: 3, rounds: 2, rcu: 2, wcu: 24, indexWcu: 1 }),
    'with a task of a project': usage({ requests: 3, rounds: 2, rcu: 2, wcu: 36, indexWcu: 1 }),
  },
  delegateTask: {
    'without a task': usage({ requests: 5, rounds: 3, rcu: 4, wcu: 12, indexWcu: 1 }),
    'with a task': usage({ requests: 6, rounds: 3, rcu: 5, wcu: 26, indexWcu: 1 }),
  },
  listExecutions: {
    '20 of 25': usage({ requests: 5, rounds: 3, rcu: 7 }),
    'with a status': usage({ requests: 1, rounds: 1, rcu: 2 }),
    'with the subjects of 20, half of them on a task': usage({ requests: 7, rounds: 4, rcu: 39 }),
  },
  listAgentExecutions: {
    '20 of 25': usage({ requests: 8, rounds: 4, rcu: 10 }),
    'with the subjects of 20, half of them on a task': usage({ requests: 10, rounds: 5, rcu: 42 }),
  },
  getExecution: { ended: usage({ requests: 2, rounds: 1, rcu: 2 }) },
  listSteps: {
    'of an agent without tools': usage({ requests: 3, rounds: 2, rcu: 4 }),
    'with what its models received': usage({ requests: 4, rounds: 3, rcu: 5 }),
  },
  getMetrics: {
    'of 30 days, of three executions': usage({ requests: 6, rounds: 4, rcu: 6 }),
    'of 30 days, of three executions, with a daily series': usage({ requests: 6, rounds: 4, rcu: 6 }),
  },
  getExecutionMetrics: { 'of 30 days, of three executions': usage({ requests: 2, rounds: 2, rcu: 2 }) },
  selfImproveAgent: { 'from two executions, adopted': usage({ requests: 28, rounds: 15, rcu: 24, wcu: 26 }) },
  listSkillCatalogue: { all: usage({}) },
  getMe: { any: usage({}) },
  registerWebhook: {
    'with a secret': usage({ requests: 1, rounds: 1, wcu: 8, keyUses: 1 }),
    'without one, for two events': usage({ requests: 1, rounds: 1, wcu: 8 }),
  },
  listWebhooks: {
    ten: usage({ requests: 11, rounds: 2, rcu: 11 }),
    'ten with their health': usage({ requests: 11, rounds: 2, rcu: 11 }),
  },
  getWebhook: {
    one: usage({ requests: 2, rounds: 1, rcu: 2 }),
    'with its hours, 256 attempts after the stored numbers': usage({ requests: 4, rounds: 2, rcu: 39 }),
  },
  updateWebhook: {
    'its URL': usage({ requests: 3, rounds: 2, rcu: 2, wcu: 1 }),
    'with another event': usage({ requests: 3, rounds: 2, rcu: 2, wcu: 4 }),
    'its filter': usage({ requests: 3, rounds: 2, rcu: 2, wcu: 4 }),
    'to pause it': usage({ requests: 3, rounds: 2, rcu: 2, wcu: 4 }),
    nothing: usage({ requests: 2, rounds: 1, rcu: 2 }),
  },
  deleteWebhook: { one: usage({ requests: 2, rounds: 2, rcu: 1, wcu: 8 }) },
  rotateWebhookSecret: {
    'with an overlap': usage({ requests: 3, rounds: 3, rcu: 3, wcu: 4, keyUses: 1 }),
    'with an Idempotency-Key': usage({ requests: 4, rounds: 4, rcu: 4, wcu: 6, keyUses: 1 }),
    'of a webhook without one': usage({ requests: 4, rounds: 4, rcu: 3, wcu: 5, keyUses: 1 }),
  },
  testWebhook: { delivered: usage({ requests: 2, rounds: 2, rcu: 2, wcu: 1, keyUses: 1 }) },
  getDelivery: {
    'with one attempt': usage({ requests: 3, rounds: 2, rcu: 4 }),
    'with one attempt and its response': usage({ requests: 4, rounds: 3, rcu: 5 }),
  },
  listDeliveries: {
    '20 of 25': usage({ requests: 5, rounds: 3, rcu: 11 }),
    'with a status, of 25': usage({ requests: 3, rounds: 3, rcu: 6 }),
    'with a time range, of 25': usage({ requests: 3, rounds: 3, rcu: 6 }),
  },
  listEvents: {
    'the newest 20 of 25': usage({ requests: 1, rounds: 1, rcu: 3 }),
    '20 of 25 after a position': usage({ requests: 2, rounds: 2, rcu: 4 }),
    'after a position, none': usage({ requests: 2, rounds: 2, rcu: 2 }),
  },
  getEvent: { 'to two webhooks': usage({ requests: 6, rounds: 4, rcu: 9 }) },
  listWebhookEvents: {
    'the newest 20 of 25, delivered': usage({ requests: 6, rounds: 4, rcu: 9 }),
    'the newest 20 of 25, each after four attempts': usage({ requests: 9, rounds: 7, rcu: 86 }),
    'by a state that none of 2,100 has': usage({ requests: 82, rounds: 42, rcu: 379 }),
  },
  recoverWebhook: {
    'five events': usage({ requests: 8, rounds: 5, rcu: 7, wcu: 4, indexWcu: 1 }),
    'five events, a dry run': usage({ requests: 6, rounds: 3, rcu: 6 }),
  },
  getRecovery: { one: usage({ requests: 5, rounds: 2, rcu: 5 }) },
  listRecoveries: { one: usage({ requests: 5, rounds: 2, rcu: 5 }) },
  cancelRecovery: { 'of five events': usage({ requests: 6, rounds: 3, rcu: 5, wcu: 1, indexWcu: 2 }) },
  redeliverDelivery: {
    'of a delivery that has ended': usage({ requests: 5, rounds: 4, rcu: 5, wcu: 1, indexWcu: 1 }),
    'in place of a retry': usage({ requests: 7, rounds: 6, rcu: 8, wcu: 4, indexWcu: 2 }),
  },
} as const satisfies Partial<Record<Guarded, Record<string, Usage>>>;

export type Budgeted = keyof typeof endpointBudgets;

/** The log of every request: one line, of at most this number of bytes. */
export const requestLog = { logLines: 1, logBytes: 450 } as const;

/** The further usage of a request whose token was not used in the container for half a minute. */
export const tokenBudget = usage({ requests: 1, rounds: 1, rcu: 1 });

/** What the first use of a token in an hour takes: reading it, and a note of its use beside the work of the request. */
export const tokenUseBudget = usage({ requests: 2, rounds: 2, rcu: 1, wcu: 1 });

/** The largest usage of a list of tasks with any filter, of 100 to 100,000 tasks over a year. */
export const listLimits = {
  firstPage: { requests: 8, rounds: 2, rcu: 28 },
  anyOffset: { requests: 26, rounds: 3, rcu: 166 },
} as const;
