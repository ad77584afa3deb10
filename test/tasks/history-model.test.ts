import { expect, it, vi } from 'vitest';
import { processContext } from '../../lib/context/context.ts';
import { type Actor, theService } from '../../lib/contract/actors.ts';
import { ApiError } from '../../lib/contract/errors.ts';
import type { HistoryEntry } from '../../lib/contract/tasks/history.ts';
import type { TaskStatus } from '../../lib/contract/tasks/tasks.ts';
import { cancelExecution } from '../../lib/executions/execution-control.ts';
import { executeAgent } from '../../lib/executions/executions.ts';
import { runExecution } from '../../lib/executions/run/run-execution.ts';
import { runWithRequest } from '../../lib/table/access/current-request.ts';
import { readHistoryPage } from '../../lib/table/history/history-rows.ts';
import type { StoredTask } from '../../lib/table/tasks/task-items.ts';
import { readTask } from '../../lib/table/tasks/tasks.ts';
import { liveClaim } from '../../lib/tasks/claim-decisions.ts';
import { claimTask, releaseTask, renewClaim, takeBackTask } from '../../lib/tasks/claims.ts';
import { settle } from '../../lib/tasks/dependents.ts';
import { commentOnTask } from '../../lib/tasks/discussion/comments.ts';
import { reviewTask } from '../../lib/tasks/discussion/reviews.ts';
import { sweepTasks } from '../../lib/tasks/due-tasks.ts';
import { createTask, deleteTask, updateTask } from '../../lib/tasks/tasks.ts';
import { createApi, dataOf } from '../api.ts';
import { scriptedModel } from '../executions/test-executions.ts';
import { newAgent } from '../functions/agents/test-agents.ts';
import { publish } from '../functions/pipeline/call-functions.ts';
import { openServiceWithQueues } from '../functions/service-with-queues.ts';
import { fc } from '../seeded.ts';
import { newCaller } from '../service.ts';
import { always, newTask } from '../table/tasks/test-table.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
vi.useFakeTimers({ toFake: ['Date'], now: start });
const { service } = await openServiceWithQueues();
const { tools: passing } = scriptedModel();
const { tools: failing } = scriptedModel({ work: { kind: 'failed', error: 'No.', tokens: 0 } });

/** Who makes changes: two tokens, a person, and an agent in an execution on something else. */
const actors: readonly Actor[] = [
  { kind: 'token', name: 'deploy-bot', id: 'aaaaaaaaaaaa' },
  { kind: 'token', name: 'bbbbbbbbbbbb', id: 'bbbbbbbbbbbb' },
  { kind: 'person', name: 'Ada', id: 'cccccccccccc' },
  {
    ...{ kind: 'agent', name: 'planner', id: 'ag_01K00000000000000000000000' },
    executionId: 'ex_01K00000000000000000000000',
  },
];

/** The statuses that steps give the task: often one in which it can be claimed or reviewed. */
const statuses: readonly TaskStatus[] = [
  ...(['backlog', 'assigned', 'assigned', 'in_progress'] as const),
  ...(['qa_review', 'up_for_review', 'up_for_review', 'done'] as const),
];
const by = fc.constantFrom(...actors);
const flag = fc.boolean();
const status = fc.option(fc.constantFrom(...statuses), { nil: undefined, freq: 3 });
const priority = fc.option(fc.constantFrom('low', 'high'), { nil: undefined });
const projectId = fc.constantFrom('proj_1', 'proj_2', null, undefined);
const of = <Kind extends string, More extends object>(
  kind: Kind,
  more: { [Name in keyof More]: fc.Arbitrary<More[Name]> },
) => fc.record({ kind: fc.constant(kind), by, ...more }) as fc.Arbitrary<{ kind: Kind; by: Actor } & More>;

const step = fc.oneof(
  { arbitrary: of('change', { status, priority, projectId }), weight: 4 },
  { arbitrary: of('repeat', {}), weight: 1 },
  { arbitrary: of('claim', { seconds: fc.constantFrom(60, 60, 120) }), weight: 6 },
  { arbitrary: of('renew', { isNoted: flag }), weight: 2 },
  { arbitrary: of('release', { status, failed: flag, isNoted: flag }), weight: 4 },
  { arbitrary: of('take back', {}), weight: 1 },
  { arbitrary: of('wait', { seconds: fc.constantFrom(1, 61, 61) }), weight: 4 },
  { arbitrary: of('sweep', {}), weight: 1 },
  { arbitrary: of('review', { decision: fc.constantFrom('accept', 'send_back') }), weight: 4 },
  { arbitrary: of('comment', {}), weight: 2 },
  { arbitrary: of('start', { byItself: flag }), weight: 3 },
  { arbitrary: of('end', { passes: flag }), weight: 2 },
  { arbitrary: of('cancel', {}), weight: 1 },
  { arbitrary: of('depend', {}), weight: 1 },
  { arbitrary: of('finish dependency', {}), weight: 1 },
  { arbitrary: of('delete dependency', {}), weight: 2 },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** How the stream delivers: the size of each batch, and from which of its records on the batch comes again. */
const deliveries = fc.array(fc.record({ size: fc.integer({ min: 1, max: 9 }), again: fc.nat(9) }), { minLength: 40 });

type Expected = Pick<HistoryEntry, 'kind' | 'by' | 'requestId' | 'note'>;

/** Returns the fields of a task that a history shows; `null` for fields that are not set, as in a change. */
const shown = (task: StoredTask) => ({
  ...{ title: task.title, status: task.status, priority: task.priority },
  ...{ assignedAgent: task.assignedAgent ?? null, projectId: task.projectId ?? null },
  ...{ dependsOn: task.dependsOn.length > 0 ? task.dependsOn : null, stopped: task.stopped?.reason ?? null },
});

const didNotComplete = 'The execution did not complete.';

it('the history of a task is exactly what was done with it, in order, each once, by whom it was, however the stream delivers', async () => {
  await fc.assert(
    fc.asyncProperty(
      ...[fc.array(step, { minLength: 30, maxLength: 50 }), deliveries, fc.infiniteStream(fc.nat()), flag],
      async (steps, batches, order, isDeletedAtEnd) => {
        vi.setSystemTime(start);
        const context = processContext();
        const { organization, token } = await newCaller(context);
        const agent = dataOf<{ id: string }>(await createApi(token).createAgent({ body: newAgent }));
        const position = (await service.changes.after(undefined, 1_000_000)).at(-1)?.dynamodb?.SequenceNumber;

        const expected: Expected[] = [];
        const snapshots: { entries: number; fields: ReturnType<typeof shown> }[] = [];
        const dependencies: string[] = [];
        const running: string[] = [];
        let [number, claimId] = [0, 'cl_01K00000000000000000000000'];

        /** Runs an action in the name of somebody, a millisecond after the one before. */
        const as = <Result>(actor: Actor | undefined, act: () => Promise<Result>): Promise<Result> => {
          vi.setSystemTime(Date.now() + 1);
          return runWithRequest({ requestId: `request-${++number}`, actor }, act);
        };
        const creator = actors[0] as Actor;
        const { id } = await as(creator, () => createTask(context, organization, newTask(), undefined));
        const read = () => readTask(context, organization, id);

        /** Returns the entries of an action that succeeds, without the entry of a claim that was over before. */
        async function act(one: Step): Promise<Expected[]> {
          const made = (kind: HistoryEntry['kind'], note?: string): Expected[] => [
            { kind, by: one.by, requestId: `request-${number}`, ...(note !== undefined && { note }) },
          ];
          const inNameOf = <Result>(work: () => Promise<Result>) => as(one.by, work);
          const before = (await read()) as StoredTask;
          const note = `Note ${number}`;
          const worker = before.claim?.worker;
          switch (one.kind) {
            case 'change': {
              const { kind, by, ...fields } = one;
              const isClaimed = liveClaim(before, Date.now()) !== undefined;
              const patch = { ...fields, title: `Title ${number}`, ...(isClaimed && { claimId }) };
              await inNameOf(() => updateTask(context, organization, id, patch, always));
              return made('changed');
            }
            case 'repeat':
              await inNameOf(() => updateTask(context, organization, id, { title: before.title }, always));
              return [];
            case 'claim': {
              const claim = { worker: `Worker ${number}`, leaseSeconds: one.seconds };
              const claimed = await inNameOf(() => claimTask(context, organization, id, claim, undefined));
              claimId = claimed.claim?.id as string;
              return made('claimed', `Worker: ${claim.worker}`);
            }
            case 'renew': {
              const renewal = { claimId, leaseSeconds: 60, ...(one.isNoted && { note }) };
              await inNameOf(() => renewClaim(context, organization, id, renewal, undefined));
              return one.isNoted ? made('changed', note) : [];
            }
            case 'release': {
              const { status: to, failed, isNoted } = one;
              const release = { claimId, status: to, failed, ...(isNoted && { note }) };
              await inNameOf(() => releaseTask(context, organization, id, release, undefined));
              const byItself = failed ? `${worker} has failed.` : `${worker} has released the task.`;
              return made('released', isNoted ? note : (before.claim?.note ?? byItself));
            }
            case 'take back': {
              await inNameOf(() => takeBackTask(context, organization, id));
              if (liveClaim(before, Date.now())) return made('released', `The task was taken back from ${worker}.`);
              return before.claim ? [] : made('changed');
            }
            case 'wait':
              vi.setSystemTime(Date.now() + one.seconds * 1_000);
              return [];
            case 'sweep':
              await as(undefined, () => sweepTasks(context, { until: Date.now() }));
              await as(undefined, () => settle(context, organization, id));
              return [];
            case 'review': {
              const isSentBack = one.decision === 'send_back';
              const review = { decision: one.decision, ...(isSentBack && { comment: note }) };
              await inNameOf(() => reviewTask(context, organization, id, review, undefined));
              return made('reviewed', isSentBack ? note : undefined);
            }
            case 'comment': {
              const { executionId, ...author } = one.by;
              await inNameOf(() => commentOnTask(context, organization, id, note, undefined));
              return made('commented', note).map((entry) => ({ ...entry, by: author }));
            }
            case 'start': {
              const input = { input: 'Do it.', taskId: id };
              const who = one.byItself ? undefined : one.by;
              const started = await as(who, () => executeAgent(context, organization, newAgent.name, input, undefined));
              const { executionId } = started;
              running.push(executionId);
              return made('execution_started').map((entry) => ({
                ...entry,
                by: { ...(who ?? theService), executionId },
              }));
            }
            case 'end': {
              const executionId = running.shift();
              if (executionId === undefined) return [];
              const message = { organization, executionId };
              await as(undefined, () => runExecution(context, message, one.passes ? passing : failing));
              const who: Actor = { kind: 'agent', name: newAgent.name, id: agent.id, executionId };
              return [{ kind: 'execution_ended', by: who, ...(!one.passes && { note: didNotComplete }) }];
            }
            case 'cancel': {
              const executionId = running.pop();
              if (executionId === undefined) return [];
              const options = { delegated: false };
              await inNameOf(() =>
                cancelExecution(context, organization, newAgent.name, executionId, options, undefined),
              );
              return [{ kind: 'execution_ended', by: { ...one.by, executionId }, note: didNotComplete }];
            }
            case 'depend': {
              const created = await inNameOf(() => createTask(context, organization, newTask(), undefined));
              dependencies.push(created.id);
              const patch = { dependsOn: [...before.dependsOn, created.id] };
              await inNameOf(() => updateTask(context, organization, id, patch, always));
              return made('changed');
            }
            case 'finish dependency': {
              const [first] = before.dependsOn;
              const patch = { status: 'done', title: `Title ${number}` } as const;
              if (first) await inNameOf(() => updateTask(context, organization, first, patch, always));
              return [];
            }
            case 'delete dependency': {
              const [first] = before.dependsOn;
              if (!first) return [];
              await inNameOf(() => deleteTask(context, organization, first, always));
              return made('changed');
            }
          }
        }

        /** Returns whether an action has ended a claim that was over. */
        const hasEndedClaim = (before: StoredTask, after: StoredTask): boolean =>
          before.claim !== undefined && !liveClaim(before, Date.now()) && after.claim?.id !== before.claim.id;

        for (const one of steps) {
          const before = (await read()) as StoredTask;
          const entries = await act(one).catch((error: unknown) => {
            if (error instanceof ApiError) return [];
            throw error;
          });
          const after = (await read()) as StoredTask;
          if (hasEndedClaim(before, after))
            expected.push({
              kind: 'released',
              by: theService,
              note: `The claim of ${before.claim?.worker} has expired.`,
            });
          expected.push(...entries);
          snapshots.push({ entries: expected.length, fields: shown(after) });
        }
        const deleter = actors[1] as Actor;
        const isDeleted = isDeletedAtEnd
          ? await as(deleter, () => deleteTask(context, organization, id, always)).then(
              () => true,
              () => false,
            )
          : false;
        if (isDeleted) expected.push({ kind: 'deleted', by: deleter, requestId: `request-${number}` });

        // Records come in batches and in any order, and a batch comes again from one of its records on.
        const records = (await service.changes.after(position, 100_000))
          .map((record) => ({ record, place: order.next().value as number }))
          .sort((left, right) => left.place - right.place)
          .map(({ record }) => record);
        for (let at = 0, nth = 0; at < records.length; nth++) {
          const { size, again } = batches[nth % batches.length] as (typeof batches)[number];
          const batch = records.slice(at, at + size);
          expect(await publish(...batch)).toEqual([]);
          if (again < batch.length) expect(await publish(...batch.slice(again))).toEqual([]);
          at += size;
        }

        const subject = { organization, of: 'task', id } as const;
        const page = await readHistoryPage(context, subject, { limit: 1_000, offset: 0 });
        const [created, ...history] = page.items.toReversed();
        expect(page.total).toBe(expected.length + 1);
        expect(new Set(page.items.map((entry) => entry.id)).size).toBe(page.total);
        expect(created).toMatchObject({ kind: 'created', by: creator, requestId: 'request-1' });
        expect(history.map(({ id, at, changes, ...entry }) => withoutLateRequest(entry))).toEqual(expected);

        // The changes of the entries lead from each state of the task to the next one.
        const fields: Record<string, unknown> = {
          assignedAgent: null,
          projectId: null,
          dependsOn: null,
          stopped: null,
        };
        const apply = ({ changes = [] }: Partial<HistoryEntry>) => {
          for (const { field, from, to } of changes) {
            expect([field, from]).toEqual([field, fields[field] ?? null]);
            fields[field] = to;
          }
        };
        apply(created as HistoryEntry);
        let applied = 0;
        for (const snapshot of snapshots) {
          for (const entry of history.slice(applied, snapshot.entries)) apply(entry);
          applied = snapshot.entries;
          expect(fields).toMatchObject(snapshot.fields);
        }
      },
    ),
    { numRuns: 60 },
  );
});

/** The end of an execution belongs to no request, but the change of its task can name the request that started it. */
function withoutLateRequest({ requestId, ...entry }: Expected): Expected {
  const hasOwn = entry.kind !== 'execution_ended' && requestId !== undefined;
  return { ...entry, ...(hasOwn && { requestId }) };
}
