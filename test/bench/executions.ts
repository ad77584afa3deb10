import { unmarshall } from '@aws-sdk/util-dynamodb';
import { leaseMs } from '../../lib/executions/keep-lease.ts';
import { executionFrom, executionKind } from '../../lib/table/executions/execution-items.ts';
import { successOf } from '../api.ts';
import { streamed } from '../table-stream.ts';
import type { Part } from './bench.ts';
import { type Ends, listenForEnds } from './ends.ts';
import { figure, percentile, spread } from './figures.ts';
import type { Section } from './page.ts';
import { type Service, startService } from './service.ts';

/** The times of an execution, in ms from its request: to the response, the lease, the end and the delivery of the end. */
type Times = Record<'answered' | 'leased' | 'ended' | 'delivered', number>;

/** An execution before the time of its lease is known. */
type Seen = Omit<Times, 'leased'> & { id: string; sentAt: number };

/** A run: its executions, and their rate a second. */
type Run<Of> = { callers: number; executions: Of[]; rate: number };

/** The times of executions with a model that takes no time. */
export const executions: Part = {
  name: 'executions',
  async measure(bench) {
    const runs = bench.quick ? 1 : 5;
    const ends = await listenForEnds(bench);
    const service = await startService(bench);
    await runExecutions({ service, ends }, 8, 16);
    const whole: Run<Times>[] = [];
    for (const callers of [1, 16])
      for (let nth = 1; nth <= runs; nth++) {
        const run = await runExecutions(
          { service, ends },
          callers,
          bench.quick ? callers * 2 : callers === 1 ? 15 : 80,
        );
        // After each run, because the service deletes handled records.
        const leases = await leasesIn(service);
        const timed = run.executions.map((one) => ({ ...one, leased: timeIn(leases, one.id) - one.sentAt }));
        whole.push({ ...run, executions: timed });
        bench.say(`${callers} at once, run ${nth} of ${runs}: ${figure(run.rate, 1)} executions a second`);
      }
    return [timesSection(whole)];
  },
};

/** Starts executions of an agent of a new organization by callers that each wait for the delivery of the end. */
export async function runExecutions(
  { service, ends }: { service: Service; ends: Ends },
  callers: number,
  count: number,
): Promise<Run<Seen>> {
  const api = await service.newOrganization();
  successOf(await api.createAgent({ body: { name: 'worker', displayName: 'Worker', category: 'development' } }));
  const events = ['agent.completed', 'agent.failed'];
  successOf(await api.registerWebhook({ body: { url: ends.url, events, secret: 'a secret to sign with' } }));
  const request = { params: { name: 'worker' }, body: { input: 'Do what there is to do.' } };
  const executions: Seen[] = [];
  let left = count;
  const caller = async () => {
    while (left-- > 0) {
      const sentAt = Date.now();
      const { executionId: id } = successOf<{ executionId: string }>(await api.executeAgent(request));
      const answered = Date.now() - sentAt;
      const { arrivedAt, completedAt } = await ends.of(id);
      executions.push({ id, sentAt, answered, ended: completedAt - sentAt, delivered: arrivedAt - sentAt });
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: callers }, caller));
  return { callers, executions, rate: (count * 1000) / (performance.now() - startedAt) };
}

/** Returns the times at which executions were leased (ms since 1970), by their lease expiry in the stream. */
async function leasesIn(service: Service): Promise<Map<string, number>> {
  const leases = new Map<string, number>();
  for (const { dynamodb } of await streamed(service.table, executionKind)) {
    const { id, leaseUntil } = executionFrom(unmarshall(dynamodb?.NewImage as Parameters<typeof unmarshall>[0]));
    if (leaseUntil !== undefined && !leases.has(id)) leases.set(id, Date.parse(leaseUntil) - leaseMs);
  }
  return leases;
}

function timeIn(times: Map<string, number>, id: string): number {
  const time = times.get(id);
  if (time === undefined) throw new Error(`The execution ${id} was never leased.`);
  return time;
}

const steps: readonly [keyof Times, string][] = [
  ['answered', 'the response: it is running'],
  ['leased', 'the lease of a worker'],
  ['ended', 'its end'],
  ['delivered', 'the delivery of the end to the caller'],
];

function timesSection(runs: readonly Run<Times>[]): Section {
  const count = (callers: number) =>
    figure(of(runs, callers).reduce((sum, { executions }) => sum + executions.length, 0));
  return {
    title: 'From execute to the end',
    text: [
      `Executions of an agent on the local service (\`node infra/local/main.ts\`), whose simulated model takes no time: the work,
then its two gates. ${count(1)} by one caller and ${count(16)} by 16; each caller starts the next after the delivery of an end. All times
are from the request. Goal of the response: p95 at most 50 ms. The time of the lease is read from the table’s stream after each
run. The end is \`completedAt\` of the event, just before it is written. The caller gets it by the webhook \`agent.completed\`, so
the last time contains the stream and the delivery (goal: p50 at most 250 ms for one caller).`,
      `p50: the median of ${of(runs, 1).length} runs, in brackets the least and the greatest; p95 and p99 are nearest-rank over all executions.`,
      'Repeat: `npm run bench -- executions`.',
    ],
    table: {
      head: ['callers', 'from the request until', 'p50 ms', 'p95 ms', 'p99 ms'],
      rows: [1, 16].flatMap((callers) =>
        steps.map(([step, name]) => {
          const byRun = of(runs, callers).map(({ executions }) => executions.map((one) => one[step]));
          return [
            figure(callers),
            name,
            spread(byRun.map((times) => percentile(times, 0.5))),
            ...[0.95, 0.99].map((share) => figure(percentile(byRun.flat(), share))),
          ];
        }),
      ),
    },
  };
}

function of<One>(runs: readonly Run<One>[], callers: number): readonly Run<One>[] {
  return runs.filter((run) => run.callers === callers);
}
