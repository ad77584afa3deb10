import type { ConsumerName } from '../../lib/deployment/consumers.ts';
import { type Usage, usage } from './usage.ts';

/**
 * The usage of the steps of the pipeline; see `endpoint-budgets.ts`. Each is a call with a single record. A purge is of
 * an agent with a prompt and no skills.
 */
export const pipelineBudgets = {
  sweepOverdue: {
    'no delivery overdue': usage({ requests: 8, rounds: 1, rcu: 4, logLines: 1, logBytes: 208 }),
    'no execution overdue': usage({ requests: 1, rounds: 1, rcu: 0.5, logLines: 1, logBytes: 185 }),
    'no purge overdue': usage({ requests: 1, rounds: 1, rcu: 0.5, logLines: 1, logBytes: 162 }),
    'a heartbeat': usage({ requests: 1, rounds: 1, wcu: 1, logLines: 1, logBytes: 136 }),
    'a sampled event': usage({ requests: 12, rounds: 5, rcu: 7, wcu: 2, indexWcu: 3, logLines: 1, logBytes: 208 }),
    'a retry overdue': usage({
      requests: 9,
      rounds: 2,
      rcu: 4,
      wcu: 1,
      indexWcu: 2,
      sends: 1,
      logLines: 1,
      logBytes: 208,
    }),
  },
  publishEvents: {
    'a new task without subscribers': usage({ requests: 2, rounds: 1, rcu: 1, wcu: 1 }),
    'a new task with a subscriber': usage({ requests: 2, rounds: 1, rcu: 1, wcu: 1, sends: 1 }),
    'a new task with a subscriber, sampled': usage({
      requests: 2,
      rounds: 1,
      rcu: 1,
      wcu: 1,
      indexWcu: 1,
      sends: 1,
    }),
    'a new task with ten subscribers': usage({ requests: 2, rounds: 1, rcu: 1, wcu: 1, sends: 1 }),
    'a change that is no event': usage({}),
    'the start of an execution': usage({ requests: 2, rounds: 1, rcu: 1, wcu: 1, sends: 1 }),
    'the end of an execution': usage({ requests: 2, rounds: 1, rcu: 1, wcu: 1 }),
    'a deleted agent': usage({ sends: 1 }),
    'a heartbeat': usage({ logLines: 1, logBytes: 196 }),
  },
  deliverWebhook: {
    delivered: usage({ requests: 2, rounds: 2, rcu: 4, wcu: 1, keyUses: 1, logLines: 2, logBytes: 725 }),
    'not delivered': usage({
      requests: 2,
      rounds: 2,
      rcu: 4,
      wcu: 1,
      indexWcu: 1,
      sends: 1,
      logLines: 2,
      logBytes: 812,
    }),
    'delivered before': usage({ requests: 1, rounds: 1, rcu: 4, logLines: 1, logBytes: 404 }),
    'received early': usage({ requests: 1, rounds: 1, rcu: 5, sends: 1, logLines: 1, logBytes: 447 }),
  },
  runExecution: {
    'without a task': usage({ requests: 9, rounds: 5, rcu: 9, wcu: 25, indexWcu: 3, logLines: 2, logBytes: 562 }),
    'with a task': usage({ requests: 10, rounds: 6, rcu: 11, wcu: 39, indexWcu: 3, logLines: 2, logBytes: 562 }),
    'of an agent that ran before': usage({
      requests: 3,
      rounds: 3,
      rcu: 3,
      wcu: 25,
      indexWcu: 3,
      logLines: 2,
      logBytes: 562,
    }),
    'executed before': usage({ requests: 1, rounds: 1, wcu: 1, logLines: 1, logBytes: 220 }),
    'a renewal of the lease': usage({ requests: 1, rounds: 1, wcu: 1, indexWcu: 2 }),
  },
  purgeAgent: {
    'without executions': usage({ requests: 10, rounds: 10, rcu: 8, wcu: 5, indexWcu: 1, logLines: 1, logBytes: 267 }),
    'with an execution': usage({ requests: 17, rounds: 17, rcu: 11, wcu: 17, indexWcu: 1, logLines: 1, logBytes: 267 }),
  },
} as const satisfies Record<ConsumerName, Record<string, Usage>>;
