import type { ConsumerName } from '../../lib/deployment/consumers.ts';
import { type Usage, usage } from './usage.ts';

/** Returns the log of a step: its bytes, and the number of its lines. */
const log = (logBytes: number, logLines = 1) => ({ logLines, logBytes });

/**
 * The usage of the steps of the pipeline; see `endpoint-budgets.ts`. Each is a call with a single record. A purge is of
 * an agent with a prompt and no skills.
 */
export const pipelineBudgets = {
  sweepOverdue: {
    'no delivery overdue': usage({ requests: 13, rounds: 2, rcu: 6.5, ...log(208) }),
    'no execution overdue': usage({ requests: 1, rounds: 1, rcu: 0.5, ...log(185) }),
    'no recovery due': usage({ requests: 1, rounds: 1, rcu: 0.5, ...log(185) }),
    'a recovery of five events': usage({
      requests: 22,
      rounds: 9,
      rcu: 14.5,
      wcu: 7,
      indexWcu: 4,
      sends: 2,
      ...log(185),
    }),
    'a heartbeat': usage({ requests: 1, rounds: 1, wcu: 1, ...log(136) }),
    'a check of one event': usage({ requests: 18, rounds: 7, rcu: 9.5, wcu: 2, indexWcu: 3, ...log(208) }),
    'a check of a hundred events': usage({ requests: 18, rounds: 7, rcu: 24.5, wcu: 2, indexWcu: 3, ...log(208) }),
    'a retry overdue': usage({
      requests: 14,
      rounds: 3,
      rcu: 6.5,
      wcu: 1,
      indexWcu: 2,
      sends: 1,
      ...log(208),
    }),
  },
  publishEvents: {
    'a new task without subscribers': usage({ requests: 2, rounds: 1, rcu: 1, wcu: 1 }),
    'a new task with a subscriber': usage({ requests: 2, rounds: 1, rcu: 1, wcu: 1, sends: 1 }),
    'a new task with a subscriber, the first of five minutes': usage({
      requests: 3,
      rounds: 2,
      rcu: 1,
      wcu: 2,
      indexWcu: 1,
      sends: 1,
    }),
    'a new task with ten subscribers': usage({ requests: 2, rounds: 1, rcu: 1, wcu: 1, sends: 1 }),
    'a new task that its only subscriber filters out': usage({ requests: 2, rounds: 1, rcu: 1, wcu: 1 }),
    'a change that is no event': usage({}),
    'the start of an execution': usage({ requests: 2, rounds: 1, rcu: 1, wcu: 1, sends: 1 }),
    'the end of an execution': usage({ requests: 2, rounds: 1, rcu: 1, wcu: 1 }),
    'a heartbeat': usage({ ...log(196) }),
    'a redelivery': usage({ sends: 1 }),
    'a recovery': usage({ sends: 1 }),
  },
  deliverWebhook: {
    delivered: usage({ requests: 2, rounds: 2, rcu: 3, wcu: 1, keyUses: 1, ...log(725, 2) }),
    'delivered, with a body in the response': usage({
      requests: 2,
      rounds: 2,
      rcu: 3,
      wcu: 2,
      keyUses: 1,
      ...log(725, 2),
    }),
    'delivered in the overlap of a rotation': usage({
      requests: 2,
      rounds: 2,
      rcu: 3,
      wcu: 1,
      keyUses: 2,
      ...log(725, 2),
    }),
    'delivered at a maximum rate': usage({ requests: 4, rounds: 3, rcu: 4, wcu: 3, keyUses: 1, ...log(725, 2) }),
    'received, to be delivered at a maximum rate': usage({ requests: 1, rounds: 1, rcu: 3, sends: 1, ...log(404) }),
    'received again, after 100 s without a lease of its slow receiver': usage({
      requests: 3,
      rounds: 3,
      rcu: 5,
      wcu: 1,
      indexWcu: 1,
      sends: 1,
      ...log(404),
    }),
    'not delivered': usage({
      requests: 2,
      rounds: 2,
      rcu: 3,
      wcu: 1,
      indexWcu: 1,
      sends: 1,
      ...log(812, 2),
    }),
    'a redelivery': usage({ requests: 3, rounds: 3, rcu: 5, wcu: 2, indexWcu: 1, ...log(780, 2) }),
    'an order to continue a recovery of five events': usage({
      requests: 22,
      rounds: 13,
      rcu: 15,
      wcu: 7,
      indexWcu: 4,
      sends: 2,
      ...log(330),
    }),
    'delivered before': usage({ requests: 1, rounds: 1, rcu: 3, ...log(404) }),
    'received early': usage({ requests: 1, rounds: 1, rcu: 6, sends: 1, ...log(447) }),
  },
  runExecution: {
    'without a task': usage({ requests: 11, rounds: 7, rcu: 9, wcu: 24, indexWcu: 1, ...log(850, 3) }),
    'with a task': usage({ requests: 12, rounds: 8, rcu: 11, wcu: 38, indexWcu: 1, ...log(850, 3) }),
    'of an agent that ran before': usage({
      requests: 5,
      rounds: 5,
      rcu: 3,
      wcu: 24,
      indexWcu: 1,
      ...log(850, 3),
    }),
    'executed before': usage({ requests: 1, rounds: 1, wcu: 1, ...log(220) }),
    'a renewal of the lease': usage({ requests: 1, rounds: 1, wcu: 1, indexWcu: 2 }),
  },
  purgeAgent: {
    'no purge due': usage({ requests: 1, rounds: 1, rcu: 0.5, ...log(152) }),
    'without executions': usage({ requests: 18, rounds: 16, rcu: 14.5, wcu: 6, indexWcu: 3, ...log(419, 2) }),
    'with an execution': usage({ requests: 25, rounds: 23, rcu: 20.5, wcu: 18, indexWcu: 3, ...log(419, 2) }),
  },
} as const satisfies Record<ConsumerName, Record<string, Usage>>;
