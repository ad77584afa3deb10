import { unmarshall } from '@aws-sdk/util-dynamodb';
import { leaseMs } from '../../lib/executions/keep-lease.ts';
import { executionFrom, executionKind } from '../../lib/table/execution-items.ts';
import { streamed } from '../table-stream.ts';
import type { Part } from './bench.ts';
import { type Ends, listenForEnds } from './ends.ts';
import { figure, spread } from './figures.ts';
import type { Section } from './page.ts';
import { percentile } from './percentile.ts';
import { type Service, startService } from './service.ts';

/** An execution in ms from its request: to the answer, to its worker, to its end and to who was told of the end. */
type Times = Record<'answered' | 'claimed' | 'ended' | 'heard', number>;

/** An execution before it is known when it was claimed. */
type Seen = Omit<Times, 'claimed'> & { id: string; sentAt: number };

/** A run: its executions, and how many a second. */
type Run<Of> = { callers: number; executions: Of[]; rate: number };

/** How long an execution takes to run and to its end where the model takes no time. */
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
        // After each run, because the service deletes records that were handled.
        const claims = await claimsIn(service);
        const timed = run.executions.map((one) => ({ ...one, claimed: timeIn(claims, one.id) - one.sentAt }));
        whole.push({ ...run, executions: timed });
        bench.say(`${callers} at once, run ${nth} of ${runs}: ${figure(run.rate, 1)} executions a second`);
      }
    return [timesSection(whole)];
  },
};

/** Has callers start executions of an agent of a new organization, each the next when it has heard of the end of one. */
export async function runExecutions(
  { service, ends }: { service: Service; ends: Ends },
  callers: number,
  count: number,
): Promise<Run<Seen>> {
  const api = await service.newOrganization();
  await api('POST', '/api/agents', { name: 'worker', displayName: 'Worker', category: 'development' });
  const events = ['agent.completed', 'agent.failed'];
  await api('POST', '/api/webhooks/register', { url: ends.url, events, secret: 'a secret to sign with' });
  const executions: Seen[] = [];
  let left = count;
  const caller = async () => {
    while (left-- > 0) {
      const sentAt = Date.now();
      const { executionId } = await api('POST', '/api/agents/worker/execute', { input: 'Do what there is to do.' });
      const answered = Date.now() - sentAt;
      const { arrivedAt, completedAt } = await ends.of(executionId as string);
      const id = executionId as string;
      executions.push({ id, sentAt, answered, ended: completedAt - sentAt, heard: arrivedAt - sentAt });
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: callers }, caller));
  return { callers, executions, rate: (count * 1000) / (performance.now() - startedAt) };
}

/** When each execution was taken in hand (ms since 1970), by the lease that its worker wrote. */
async function claimsIn(service: Service): Promise<Map<string, number>> {
  const claims = new Map<string, number>();
  for (const { dynamodb } of await streamed(service.table, executionKind)) {
    const { id, leaseUntil } = executionFrom(unmarshall(dynamodb?.NewImage as Parameters<typeof unmarshall>[0]));
    if (leaseUntil !== undefined && !claims.has(id)) claims.set(id, Date.parse(leaseUntil) - leaseMs);
  }
  return claims;
}

function timeIn(times: Map<string, number>, id: string): number {
  const time = times.get(id);
  if (time === undefined) throw new Error(`The execution ${id} was never taken in hand.`);
  return time;
}

const steps: readonly [keyof Times, string][] = [
  ['answered', 'answered: it is running'],
  ['claimed', 'a worker has it'],
  ['ended', 'it has come to its end'],
  ['heard', 'the caller has heard of the end'],
];

function timesSection(runs: readonly Run<Times>[]): Section {
  const count = (callers: number) =>
    figure(of(runs, callers).reduce((sum, { executions }) => sum + executions.length, 0));
  return {
    title: 'From execute to the end',
    text: [
      `Executions of an agent on the started service (\`node infra/local/main.ts\`), whose simulated model takes no time: the work,
then its two gates. ${count(1)} by one caller and ${count(16)} by 16, each of whom starts the next when it has heard of the end of one.
All times are from the request. It is running when it is answered (goal: p95 at most 50 ms). When a worker has taken it in
hand is read from the table’s stream, after each run, by the lease that the claim wrote. Its end is the event’s own
\`completedAt\`, a moment before it is written down. The caller hears of it by the webhook \`agent.completed\`, so the second way
through the stream and the delivery are in the last time (goal: p50 at most 250 ms for one caller); to ask for the
execution again and again would cost the service more than that one delivery, and no watch disturbs what it watches less.`,
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
