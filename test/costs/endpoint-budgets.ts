import type { endpoints } from '../../lib/contract/endpoints.ts';
import type { Operation } from '../../lib/contract/routes.ts';
import { type Usage, usage } from './usage.ts';

/** The rows that ask for a token. */
export type Guarded = {
  [Name in Operation]: (typeof endpoints)[Name] extends { scope: string } ? Name : never;
}[Operation];

/**
 * What each row may take, and does: a test measures the same and fails on more as on less, so that what is said of costs
 * is never out of date. Rounds are at most these, for what is asked side by side may happen to come one after the other.
 *
 * Items have a text of half a kilobyte. The token was read before; reading it is `tokenBudget`.
 */
export const endpointBudgets = {
  listTasks: {
    '20 of 100': usage({ requests: 2, rounds: 1, rcu: 6, logLines: 1, logBytes: 355 }),
    'with an agent': usage({ requests: 3, rounds: 2, rcu: 22, logLines: 1, logBytes: 355 }),
    'with a status': usage({ requests: 6, rounds: 2, rcu: 23, logLines: 1, logBytes: 355 }),
    'with a priority': usage({ requests: 8, rounds: 2, rcu: 28, logLines: 1, logBytes: 355 }),
    'with agent, status and priority': usage({ requests: 3, rounds: 2, rcu: 7, logLines: 1, logBytes: 355 }),
    'from offset 70': usage({ requests: 2, rounds: 1, rcu: 17, logLines: 1, logBytes: 355 }),
  },
  createTask: {
    bare: usage({ requests: 1, rounds: 1, wcu: 6, logLines: 1, logBytes: 357 }),
    'with an agent': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 12, logLines: 1, logBytes: 357 }),
    'with a project': usage({ requests: 1, rounds: 1, wcu: 12, logLines: 1, logBytes: 357 }),
    'with both': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 24, logLines: 1, logBytes: 357 }),
    'with five dependencies': usage({ requests: 1, rounds: 1, wcu: 16, logLines: 1, logBytes: 357 }),
    'with an Idempotency-Key': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 8, logLines: 1, logBytes: 357 }),
  },
  getTask: {
    bare: usage({ requests: 1, rounds: 1, rcu: 1, logLines: 1, logBytes: 389 }),
    'with five dependencies': usage({ requests: 2, rounds: 2, rcu: 6, logLines: 1, logBytes: 389 }),
  },
  updateTask: {
    'its text': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 1, logLines: 1, logBytes: 393 }),
    'its status': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 8, logLines: 1, logBytes: 393 }),
    'its status, with an agent': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 14, logLines: 1, logBytes: 393 }),
    'its status, with both': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 26, logLines: 1, logBytes: 393 }),
    'a new dependency': usage({ requests: 5, rounds: 5, rcu: 4, wcu: 6, logLines: 1, logBytes: 393 }),
    nothing: usage({ requests: 1, rounds: 1, rcu: 1, logLines: 1, logBytes: 393 }),
  },
  deleteTask: {
    bare: usage({ requests: 2, rounds: 2, rcu: 1, wcu: 6, logLines: 1, logBytes: 395 }),
    'with both': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 24, logLines: 1, logBytes: 395 }),
    'with five dependencies': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 16, logLines: 1, logBytes: 395 }),
  },
  listAgents: {
    '20 of 25': usage({ requests: 1, rounds: 1, rcu: 5, logLines: 1, logBytes: 343 }),
  },
  createAgent: {
    'with the default model': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 6, logLines: 1, logBytes: 345 }),
    'with a model': usage({ requests: 1, rounds: 1, wcu: 6, logLines: 1, logBytes: 345 }),
  },
  getAgent: {
    'with a prompt': usage({ requests: 2, rounds: 2, rcu: 2, logLines: 1, logBytes: 356 }),
  },
  updateAgent: {
    'its name': usage({ requests: 3, rounds: 3, rcu: 2, wcu: 1, logLines: 1, logBytes: 360 }),
    'its prompt': usage({ requests: 3, rounds: 3, rcu: 2, wcu: 6, logLines: 1, logBytes: 360 }),
    nothing: usage({ requests: 2, rounds: 2, rcu: 2, logLines: 1, logBytes: 360 }),
  },
  deleteAgent: {
    'without executions': usage({ requests: 3, rounds: 3, rcu: 2, wcu: 4, indexWcu: 1, logLines: 1, logBytes: 360 }),
    'with an execution': usage({ requests: 5, rounds: 5, rcu: 3, wcu: 10, indexWcu: 1, logLines: 1, logBytes: 360 }),
  },
  listSkills: {
    two: usage({ requests: 2, rounds: 2, rcu: 2, logLines: 1, logBytes: 370 }),
  },
  assignSkill: {
    one: usage({ requests: 3, rounds: 3, rcu: 2, wcu: 4, logLines: 1, logBytes: 372 }),
  },
  unassignSkill: {
    one: usage({ requests: 2, rounds: 2, rcu: 1, wcu: 4, logLines: 1, logBytes: 400 }),
  },
  updateSoul: {
    another: usage({ requests: 3, rounds: 3, rcu: 2, wcu: 1, logLines: 1, logBytes: 370 }),
  },
  executeAgent: {
    'without a task': usage({ requests: 2, rounds: 2, rcu: 1, wcu: 20, indexWcu: 1, logLines: 1, logBytes: 374 }),
    'with a task': usage({ requests: 3, rounds: 2, rcu: 2, wcu: 34, indexWcu: 1, logLines: 1, logBytes: 374 }),
    'with a task of a project': usage({
      requests: 3,
      rounds: 2,
      rcu: 2,
      wcu: 46,
      indexWcu: 1,
      logLines: 1,
      logBytes: 374,
    }),
  },
  delegateTask: {
    'without a task': usage({ requests: 4, rounds: 3, rcu: 3, wcu: 22, indexWcu: 1, logLines: 1, logBytes: 376 }),
    'with a task': usage({ requests: 5, rounds: 3, rcu: 4, wcu: 36, indexWcu: 1, logLines: 1, logBytes: 376 }),
  },
  listExecutions: {
    '20 of 25': usage({ requests: 2, rounds: 1, rcu: 2, logLines: 1, logBytes: 365 }),
    'with a status': usage({ requests: 2, rounds: 1, rcu: 2, logLines: 1, logBytes: 365 }),
  },
  listAgentExecutions: {
    '20 of 25': usage({ requests: 3, rounds: 2, rcu: 3, logLines: 1, logBytes: 378 }),
  },
  getExecution: {
    ended: usage({ requests: 2, rounds: 1, rcu: 2, logLines: 1, logBytes: 412 }),
  },
  getMetrics: {
    'of 30 days, of three executions': usage({ requests: 4, rounds: 4, rcu: 4, logLines: 1, logBytes: 372 }),
  },
  selfImproveAgent: {
    'from two executions, adopted': usage({ requests: 23, rounds: 20, rcu: 21, wcu: 8, logLines: 1, logBytes: 384 }),
  },
  listSkillCatalogue: {
    all: usage({ logLines: 1, logBytes: 357 }),
  },
  registerWebhook: {
    'with a secret': usage({ requests: 1, rounds: 1, wcu: 8, keyUses: 1, logLines: 1, logBytes: 367 }),
    'without one, for two events': usage({ requests: 1, rounds: 1, wcu: 8, logLines: 1, logBytes: 367 }),
  },
  listWebhooks: {
    ten: usage({ requests: 11, rounds: 2, rcu: 11, logLines: 1, logBytes: 347 }),
  },
  getWebhook: {
    one: usage({ requests: 2, rounds: 1, rcu: 2, logLines: 1, logBytes: 381 }),
  },
  deleteWebhook: {
    one: usage({ requests: 2, rounds: 2, rcu: 1, wcu: 8, logLines: 1, logBytes: 387 }),
  },
  testWebhook: {
    delivered: usage({ requests: 2, rounds: 2, rcu: 2, wcu: 1, keyUses: 1, logLines: 1, logBytes: 393 }),
  },
  listDeliveries: {
    '20 of 25': usage({ requests: 5, rounds: 3, rcu: 8, logLines: 1, logBytes: 403 }),
  },
} as const satisfies Record<Guarded, Record<string, Usage>>;

/** What a request takes beside its row where its token was not used in the container for half a minute. */
export const tokenBudget = usage({ requests: 1, rounds: 1, rcu: 1 });

/** What a list of tasks takes at most, whatever filter, on boards of 100 to 100,000 tasks over a year. */
export const listLimits = {
  firstPage: { requests: 8, rounds: 3, rcu: 40 },
  anyOffset: { requests: 26, rounds: 3, rcu: 170 },
} as const;
