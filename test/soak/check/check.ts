import type { ExecutionHead } from '../../../lib/table/executions/execution-items.ts';
import type { PipelineCheck } from '../../webhooks/deliveries/check-pipeline.ts';
import { trueTimesOf } from '../clock/service-clock.ts';
import type { Evidence } from './evidence.ts';
import { exceededRates } from './webhook-rules.ts';

/** The result of a check. `lost` has a sentence for each fault. */
export type Checked = {
  lost: string[];
  /** The number of events in the event log. */
  logged: number;
  executions: Record<string, number>;
  deliveries: PipelineCheck['ends'];
  /** The number of events for each webhook, by what must become of them. */
  fates: Record<string, number>;
  posts: number;
};

/** The number of leases of an execution that has failed as lost. */
const leasesOfLost = 3;

/** The limits of time that an execution can fail by, in milliseconds, by its error. */
const limitsOfTimeMs: ReadonlyMap<string | undefined, number> = new Map([
  ['deadline', 10 * 60_000],
  ['not_started', 60 * 60_000],
]);

/**
 * Checks all data of a soak: nothing is lost, invented, or done twice without a fault that explains it. The writers'
 * ledger is compared with the table, and all changes with the event log and with what a follower of it has seen. Lists,
 * counts and missing attempts are checked as by `crewboard reconcile` and `crewboard deliveries verify`, deliveries by the
 * check of pipelines. Webhooks that were paused or limited got what they had to, and not more in a second than allowed.
 */
export function check(evidence: Evidence): Checked {
  const { differences, underWay, due, executions, deliveries } = evidence;
  return {
    lost: [
      ...checkTasks(evidence),
      ...checkExecutions(evidence),
      ...checkEventLog(evidence),
      ...deliveries.wrong,
      ...checkPauses(evidence),
      ...evidence.rated.flatMap((rated) => exceededRates(rated, evidence.steps)),
      ...differences.map((key) => `${key} differs from the items of the organization`),
      ...underWay.map(({ deliveryId, attempt }) => `attempt ${attempt} of ${deliveryId} is missing`),
      ...due.map((key) => `${key} is still in the due index`),
      ...checkFollower(evidence),
    ],
    logged: evidence.logged.length,
    executions: countsOf(executions.map(({ status }) => status)),
    deliveries: deliveries.ends,
    fates: countsOf(evidence.fates.map(({ fate }) => fate)),
    posts: deliveries.posts,
  };
}

function countsOf(names: readonly string[]): Record<string, number> {
  const kinds = [...Map.groupBy(names, (name) => name)];
  return Object.fromEntries(kinds.map(([kind, alike]) => [kind, alike.length]));
}

/** Returns the faults of the tasks: each is as in the last response to its writer, and none exists twice. */
function checkTasks({ ledger, tasks }: Evidence): string[] {
  const stored = new Map(tasks.map((task) => [task.id, task]));
  return [
    ...[...ledger.tasks].flatMap(([id, { statuses, version }]) => {
      const task = stored.get(id);
      if (!task) return [`${id} was created and does not exist`];
      // Each change is one version.
      if (task.status === statuses.at(-1) && task.version === version && version === statuses.length) return [];
      const expected = `${statuses.at(-1)} in version ${version} after ${statuses.length} changes`;
      return [`${id} was ${expected} and is ${task.status} in version ${task.version}`];
    }),
    ...tasks.filter(({ id }) => !ledger.tasks.has(id)).map(({ id }) => `${id} exists and no response has named it`),
  ];
}

/** Returns the faults of the event log: it has each event that happened once, and no other. */
function checkEventLog({ happened, logged }: Evidence): string[] {
  const [expected, found] = [happened, logged].map(countsOf) as [Record<string, number>, Record<string, number>];
  const names = new Set([...happened, ...logged]);
  return [...names].flatMap((name) => {
    const [times, there] = [expected[name] ?? 0, found[name] ?? 0];
    return times === there ? [] : [`${name} happened ${times} times and is ${there} times in the event log`];
  });
}

/** Returns the faults of the executions: each in the ledger has ended, and none exists twice. */
function checkExecutions({ ledger, executions, steps }: Evidence): string[] {
  const stored = new Set(executions.map(({ id }) => id));
  return [
    ...[...ledger.executions].filter((id) => !stored.has(id)).map((id) => `${id} was started and does not exist`),
    ...executions.flatMap((execution) => {
      const { id, status, error, claims } = execution;
      if (!ledger.executions.has(id)) return [`${id} exists and no response has named it`];
      if (status === 'running') return [`${id} is still running`];
      // The model of a soak never fails: an execution fails only as lost, or by a limit of time after a step of the clock.
      if (status === 'completed' || (error === 'lost' && claims >= leasesOfLost)) return [];
      if (isOverByClockOnly(execution, steps)) return [];
      return [`${id} has failed (${error}) after ${claims} leases`];
    }),
  ];
}

/** Whether an execution can have reached a limit of time by the clock of the service, which has stepped, but not in fact. */
function isOverByClockOnly({ error, startedAt, completedAt }: ExecutionHead, steps: Evidence['steps']): boolean {
  const limitMs = limitsOfTimeMs.get(error);
  if (limitMs === undefined || completedAt === undefined) return false;
  const start = Math.min(...trueTimesOf(Date.parse(startedAt), steps));
  const end = Math.max(...trueTimesOf(Date.parse(completedAt), steps));
  const ahead = steps
    .filter(({ at }, nth) => at <= end && (steps[nth + 1]?.at ?? end) >= start)
    .map(({ aheadMs }) => aheadMs);
  const elapsedMs = end - start;
  return elapsedMs < limitMs && elapsedMs + Math.max(...ahead) - Math.min(...ahead) >= limitMs;
}

/** Returns the faults of pauses: no event from within one was sent, and each other event was. */
function checkPauses({ fates }: Evidence): string[] {
  return fates.flatMap(({ webhookId, name, fate, posts }) => {
    if (fate === 'skipped' && posts > 0) return [`${name} happened in a pause of ${webhookId} and was sent`];
    if (fate === 'delivered' && posts === 0) return [`${name} happened in no pause of ${webhookId} and was not sent`];
    return [];
  });
}

/** Returns the faults of a follower of the event log: it has seen each event that happened. */
function checkFollower({ happened, followed }: Evidence): string[] {
  const seen = new Set(followed);
  return happened.filter((name) => !seen.has(name)).map((name) => `${name} happened and the follower has not seen it`);
}
