import type { ExecutionMessage } from '../../../lib/deployment/messages.ts';
import { sweepExecutions } from '../../../lib/executions/execution-messages.ts';
import type { Answer, Question } from '../../../lib/model/converse.ts';
import type { ExecutionHead } from '../../../lib/table/executions/execution-items.ts';
import { readExecutionPage } from '../../../lib/table/executions/executions.ts';
import { between, oneOf, randomFrom } from '../../soak/random.ts';
import { createTestExecutions, opening, scriptedModel, text } from '../test-executions.ts';
import { checkExecutions } from './check-executions.ts';
import { createKillableWorkers } from './killable-workers.ts';
import { halfSteps } from './killed.ts';

const second = 1_000;
const minute = 60 * second;

/** A message on the queue. */
type Waiting = { message: ExecutionMessage; at: number };

/** The times at which workers of an execution were killed, and the number of its lost messages. */
type Faults = { killed: number[]; lost: number };

const modelError = 'The model refused to do this.';

/**
 * Starts executions at once, and lets time pass until all have ended: a fifth of the workers are killed at a step, a
 * third of the messages are received twice and a tenth never, and models throttle a third of their calls. A sweep
 * follows every minute.
 *
 * @returns what is wrong, in sentences, and how the executions ended
 */
export async function runManyExecutions(
  seed: number,
  count: number,
): Promise<{ wrong: string[]; ends: Record<string, number> }> {
  const random = randomFrom(seed);
  const chance = (part: number) => random() < part;
  const workers = createKillableWorkers();
  const fixture = await createTestExecutions({ cap: 1_000, stream: true, through: workers.table });
  const { timeline, clock, organization } = fixture;
  const faults = new Map<string, Faults>();
  const faultsOf = (id: string): Faults => {
    const known = faults.get(id) ?? { killed: [], lost: 0 };
    faults.set(id, known);
    return known;
  };
  const waiting: Waiting[] = [];
  const wrong: string[] = [];

  /** Sends a message; some are lost, and some are received twice. */
  function send(message: ExecutionMessage, delaySeconds: number): void {
    const at = clock() + delaySeconds * second;
    if (chance(0.1)) faultsOf(message.executionId).lost += 1;
    else waiting.push({ message, at });
    if (chance(0.3)) waiting.push({ message, at: at + between(random, 0, 120) * second });
  }

  /** Throttles, or returns a random answer after a random time. */
  async function says({ signal }: Question, answers: readonly Answer[]): Promise<Answer> {
    if (chance(0.3)) return { kind: 'throttled', tokens: 0 };
    await timeline.pause(5 * second * between(random, 0, 12), signal);
    return signal.aborted ? { kind: 'aborted', tokens: 0 } : oneOf(random, answers);
  }

  const verdicts = ['PASS', 'PASS', 'PASS', 'FAIL'].map((word) => text(`VERDICT: ${word}`, 1));
  const works = [
    ...Array<Answer>(9).fill(text('Done.', 100)),
    { kind: 'failed', error: modelError, tokens: 3 } as const,
  ];
  const { tools } = scriptedModel({
    work: (question) => says(question, works),
    selfTest: (question) => says(question, verdicts),
    qaReview: (question) => says(question, verdicts),
  });
  const killableTools = { ...tools, model: workers.model(tools.model) };

  function work(message: ExecutionMessage): void {
    const left = chance(0.2) ? between(random, 0, halfSteps) : undefined;
    const run = workers.run(() => fixture.run(message, killableTools), left);
    void run.then((ended) => {
      if (ended === 'dead') faultsOf(message.executionId).killed.push(clock());
      if (ended === 'failed') wrong.push(`A worker of ${message.executionId} failed.`);
    });
  }

  const messages = await Promise.all(
    Array.from({ length: count }, async () => fixture.start({ taskId: (await fixture.addTask()).id })),
  );
  for (const message of messages) send(message, 0);

  const running = async () =>
    (await readExecutionPage(fixture.context, organization, { status: 'running' }, { limit: 1, offset: 0 })).total;
  for (let sweepAt = opening + minute; (await running()) > 0; sweepAt += minute) {
    if (sweepAt > opening + 30 * minute) throw new Error('Some executions have not ended after 30 minutes.');
    while (clock() < sweepAt) {
      for (const one of waiting.filter(({ at }) => at <= clock())) {
        waiting.splice(waiting.indexOf(one), 1);
        work(one.message);
      }
      await timeline.until(Math.min(sweepAt, timeline.nextAt(), ...waiting.map(({ at }) => at)));
    }
    await sweepExecutions(fixture.context, { until: clock() });
    for (const { message, delaySeconds } of fixture.sent.splice(0)) send(message, delaySeconds);
  }

  const { executions, wrong: traces } = await checkExecutions(fixture);
  if (executions.length !== count) wrong.push(`There are ${executions.length} executions.`);
  for (const one of executions) wrong.push(...wrongEnd(one, faultsOf(one.id)));
  const ends = Map.groupBy(executions, ({ status, error }) => error ?? status);
  return {
    wrong: [...wrong, ...traces],
    ends: Object.fromEntries([...ends].map(([end, those]) => [end, those.length])),
  };
}

/** The longest time until another worker starts: a lease, the sweep after it, and the time to receive its message. */
const recoveredMs = 30 * second + 2 * minute;

/** Compares the end of an execution with the faults that happened to it. */
function wrongEnd({ id, error, durationMs = 0, claims }: ExecutionHead, { killed, lost }: Faults): string[] {
  const wrong: string[] = [];
  if (error !== undefined && !['lost', 'deadline', modelError].includes(error))
    wrong.push(`${id} failed with ${error}`);
  if (error === 'lost' && killed.length < 2) wrong.push(`${id} is lost after ${killed.length} killed workers`);
  if ((error === 'lost') !== claims > 2) wrong.push(`${id} ended with ${error} after ${claims} claims`);
  // Work takes at most about four minutes, so only a killed worker or a lost message leads to the deadline.
  if (error === 'deadline' && killed.length + lost === 0) wrong.push(`${id} failed for throttling alone`);
  const latest = 10 * minute + (1 + killed.length + lost) * recoveredMs;
  if (durationMs > latest) wrong.push(`${id} ended after ${durationMs} ms`);
  return wrong;
}
