import { expect, it } from 'vitest';
import { ApiError } from '../../lib/contract/errors.ts';
import type { TaskStatus } from '../../lib/contract/tasks/tasks.ts';
import type { ExecutionMessage } from '../../lib/names/messages.ts';
import { liveClaim } from '../../lib/tasks/claim-decisions.ts';
import { claimTask, releaseTask, renewClaim, takeBackTask } from '../../lib/tasks/claims.ts';
import { sweepTasks } from '../../lib/tasks/due-tasks.ts';
import { deleteTask, updateTask } from '../../lib/tasks/tasks.ts';
import { createTestExecutions, scriptedModel } from '../executions/test-executions.ts';
import { fc } from '../seeded.ts';

/** What a plain reading of the documentation says about one task, without leases, versions and conditions. */
type Model = {
  status: TaskStatus;
  claim?: { nth: number; until: number; from: TaskStatus };
  failures: number;
  isStopped: boolean;
  isRunning: boolean;
  isOwned: boolean;
};

const statuses: readonly TaskStatus[] = ['backlog', 'assigned', 'in_progress', 'qa_review', 'done'];
const isOpen = (status: TaskStatus) => status === 'backlog' || status === 'assigned';

/** Which of the claims that were taken a step names: mostly the last one; the first one belongs to a late worker. */
const which = fc.constantFrom('last', 'last', 'last', 'first');
const of = <Kind extends string>(kind: Kind) => fc.record({ kind: fc.constant(kind) });

const step = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('claim' as const), seconds: fc.constantFrom(60, 120) }), weight: 6 },
  { arbitrary: fc.record({ kind: fc.constant('renew' as const), which }), weight: 2 },
  {
    arbitrary: fc.record({
      kind: fc.constant('release' as const),
      which,
      status: fc.option(fc.constantFrom(...statuses), { nil: undefined, freq: 2 }),
      failed: fc.constantFrom(true, true, true, false),
    }),
    weight: 6,
  },
  { arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 59, 61) }), weight: 2 },
  { arbitrary: of('sweep'), weight: 1 },
  { arbitrary: of('take back'), weight: 1 },
  {
    arbitrary: fc.record({
      kind: fc.constant('patch' as const),
      status: fc.constantFrom('backlog' as const, ...statuses),
      which: fc.option(which, { nil: undefined, freq: 2 }),
    }),
    weight: 3,
  },
  { arbitrary: of('start'), weight: 1 },
  { arbitrary: of('end'), weight: 1 },
  { arbitrary: of('delete'), weight: 1 },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the error that a step must have; `undefined` if it succeeds, and then the model is as after it. */
function predict(model: Model, one: Step, now: number, taken: number): string | undefined {
  const live = model.claim && now < model.claim.until ? model.claim : undefined;
  const isHolder = (named: string) => live !== undefined && live.nth === (named === 'first' ? 0 : taken - 1);
  const end = () => {
    if (model.claim && model.status === 'in_progress') model.status = model.claim.from;
    delete model.claim;
  };
  const forgive = () => Object.assign(model, { failures: 0, isStopped: false });
  switch (one.kind) {
    case 'claim': {
      if (live) return 'task_claimed';
      const status = model.claim && model.status === 'in_progress' ? model.claim.from : model.status;
      const isWorkedOn = model.isRunning && model.isOwned;
      if (isWorkedOn && (status === 'in_progress' || (isOpen(status) && !model.isStopped))) return 'execution_running';
      if (model.isStopped || !isOpen(status)) return 'task_not_open';
      model.claim = { nth: taken, until: now + one.seconds * 1_000, from: status };
      model.status = 'in_progress';
      return undefined;
    }
    case 'renew':
      if (!live || !isHolder(one.which)) return 'claim_lost';
      live.until = now + 900_000;
      return undefined;
    case 'release':
      if (!isHolder(one.which)) return 'claim_lost';
      end();
      if (one.status) model.status = one.status;
      if (!one.failed) forgive();
      else if (++model.failures >= 3 && isOpen(model.status)) model.isStopped = true;
      return undefined;
    case 'sweep':
      if (!live) end();
      return undefined;
    case 'take back':
      if (!model.claim && !model.isStopped) return 'not_found';
      end();
      forgive();
      return undefined;
    case 'patch': {
      if (one.which !== undefined && !isHolder(one.which)) return 'claim_lost';
      if (live && one.which === undefined) return 'task_claimed';
      const before = model.claim && !live && model.status === 'in_progress' ? model.claim.from : model.status;
      if (one.status === before) return undefined;
      if (!live) end();
      model.status = one.status;
      forgive();
      return undefined;
    }
    case 'start': {
      if (live) return 'task_claimed';
      if (model.isRunning && model.isOwned) return undefined;
      const status = model.claim && model.status === 'in_progress' ? model.claim.from : model.status;
      if (!isOpen(status) && status !== 'in_progress') return undefined;
      end();
      model.status = 'in_progress';
      forgive();
      model.isOwned = true;
      return undefined;
    }
    case 'delete':
      return live ? 'task_claimed' : undefined;
    default:
      return undefined;
  }
}

it('claims, renewals, releases, expiry, taking back, changes, starts and deletions of a task do what is documented', async () => {
  const { tools } = scriptedModel();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      const world = await createTestExecutions();
      const context = { ...world.context, table: world.table };
      const { organization } = world;
      const { id } = await world.addTask();
      const model: Model = { status: 'backlog', failures: 0, isStopped: false, isRunning: false, isOwned: false };
      const claims: string[] = [];
      let running: ExecutionMessage | undefined;
      const claimOf = (named: string) => claims.at(named === 'first' ? 0 : -1) ?? 'cl_01K00000000000000000000000';

      const act = async (one: Step): Promise<unknown> => {
        switch (one.kind) {
          case 'claim': {
            const body = { worker: 'Ada', leaseSeconds: one.seconds };
            const { claim } = await claimTask(context, organization, id, body, undefined);
            return claims.push(claim?.id as string);
          }
          case 'renew':
            return renewClaim(context, organization, id, { claimId: claimOf(one.which) }, undefined);
          case 'release': {
            const { which: named, status, failed } = one;
            return releaseTask(context, organization, id, { claimId: claimOf(named), status, failed }, undefined);
          }
          case 'wait':
            return world.timeline.pass(one.seconds * 1_000);
          case 'sweep':
            return sweepTasks(context, { until: world.clock() });
          case 'take back':
            return takeBackTask(context, organization, id);
          case 'patch': {
            const body = { status: one.status, ...(one.which !== undefined && { claimId: claimOf(one.which) }) };
            return updateTask(context, organization, id, body, () => {});
          }
          case 'start':
            if (!running) running = await world.start({ taskId: id });
            return undefined;
          case 'end':
            if (running) await world.finishAll(running, tools);
            running = undefined;
            return undefined;
          case 'delete':
            return deleteTask(context, organization, id, () => {});
        }
      };

      for (const one of steps) {
        const isStart = one.kind === 'start' && !running;
        const expected =
          one.kind === 'start' && !isStart ? undefined : predict(model, one, world.clock(), claims.length);
        const actual = await act(one).then(
          () => undefined,
          (error: unknown) => (error instanceof ApiError ? error.code : Promise.reject(error)),
        );
        expect([one, actual]).toEqual([one, expected]);
        if (isStart && !actual) model.isRunning = true;
        if (one.kind === 'end' && model.isRunning) {
          if (model.isOwned && model.status === 'in_progress' && !model.claim) model.status = 'up_for_review';
          Object.assign(model, { isRunning: false, isOwned: false });
        }
        if (one.kind === 'delete' && !actual) return;
        const task = await world.task(id);
        const now = world.clock();
        expect([one, task?.status, task && liveClaim(task, now)?.id, task?.stopped !== undefined]).toEqual([
          one,
          model.status,
          model.claim && now < model.claim.until ? claims[model.claim.nth] : undefined,
          model.isStopped,
        ]);
      }
    }),
    { numRuns: 200 },
  );
});
