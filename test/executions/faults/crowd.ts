import type { ExecutionMessage } from '../../../lib/deployment/messages.ts';
import { sweepExecutions } from '../../../lib/executions/execution-messages.ts';
import type { Answer, Question } from '../../../lib/model/converse.ts';
import type { ExecutionHead } from '../../../lib/table/execution-items.ts';
import { readExecutionPage } from '../../../lib/table/executions.ts';
import { between, oneOf, randomFrom } from '../../soak/random.ts';
import { opening, openWorkshop, scriptedModel, text } from '../workshop.ts';
import { halfSteps } from './killed.ts';
import { openMortals } from './mortals.ts';
import { recount } from './recount.ts';

const second = 1_000;
const minute = 60 * second;

/** A wake-up on its way. */
type Waiting = { message: ExecutionMessage; at: number };

/** What happened to an execution that none should mind. */
type Mishaps = { deaths: number[]; lost: number };

const refusal = 'The model refused to do this.';

/**
 * Starts so many executions at once, and lets time pass until all have ended: a fifth of the workers die at a step, a
 * third of the messages come twice and a tenth never, and models throttle a third of their calls. Sweeps come every
 * minute.
 *
 * @returns what is wrong, in sentences, and how the executions ended
 */
export async function runCrowd(
  seed: number,
  count: number,
): Promise<{ wrong: string[]; ends: Record<string, number> }> {
  const random = randomFrom(seed);
  const chance = (part: number) => random() < part;
  const mortals = openMortals();
  const workshop = await openWorkshop({ cap: 1_000, stream: true, through: mortals.table });
  const { timeline, clock, organization } = workshop;
  const mishaps = new Map<string, Mishaps>();
  const mishapsOf = (id: string): Mishaps => {
    const known = mishaps.get(id) ?? { deaths: [], lost: 0 };
    mishaps.set(id, known);
    return known;
  };
  const waiting: Waiting[] = [];
  const wrong: string[] = [];

  /** Some messages are lost on their way, and some come twice. */
  function send(message: ExecutionMessage, delaySeconds: number): void {
    const at = clock() + delaySeconds * second;
    if (chance(0.1)) mishapsOf(message.executionId).lost += 1;
    else waiting.push({ message, at });
    if (chance(0.3)) waiting.push({ message, at: at + between(random, 0, 120) * second });
  }

  /** Throttles, or takes its time and then says what the dice say. */
  async function says({ signal }: Question, answers: readonly Answer[]): Promise<Answer> {
    if (chance(0.3)) return { kind: 'throttled', tokens: 0 };
    await timeline.pause(5 * second * between(random, 0, 12), signal);
    return signal.aborted ? { kind: 'aborted', tokens: 0 } : oneOf(random, answers);
  }

  const verdicts = ['PASS', 'PASS', 'PASS', 'FAIL'].map((word) => text(`VERDICT: ${word}`, 1));
  const works = [...Array<Answer>(9).fill(text('Done.', 100)), { kind: 'failed', error: refusal, tokens: 3 } as const];
  const { tools } = scriptedModel({
    work: (question) => says(question, works),
    selfTest: (question) => says(question, verdicts),
    qaReview: (question) => says(question, verdicts),
  });
  const mortalTools = { ...tools, model: mortals.model(tools.model) };

  function work(message: ExecutionMessage): void {
    const left = chance(0.2) ? between(random, 0, halfSteps) : undefined;
    const run = mortals.run(() => workshop.run(message, mortalTools), left);
    void run.then((ended) => {
      if (ended === 'dead') mishapsOf(message.executionId).deaths.push(clock());
      if (ended === 'failed') wrong.push(`A worker of ${message.executionId} failed.`);
    });
  }

  const messages = await Promise.all(
    Array.from({ length: count }, async () => workshop.start({ taskId: (await workshop.put()).id })),
  );
  for (const message of messages) send(message, 0);

  const running = async () =>
    (await readExecutionPage(workshop.context, organization, { status: 'running' }, { limit: 1, offset: 0 })).total;
  for (let sweepAt = opening + minute; (await running()) > 0; sweepAt += minute) {
    if (sweepAt > opening + 30 * minute) throw new Error('The crowd does not come to rest.');
    while (clock() < sweepAt) {
      for (const one of waiting.filter(({ at }) => at <= clock())) {
        waiting.splice(waiting.indexOf(one), 1);
        work(one.message);
      }
      await timeline.until(Math.min(sweepAt, timeline.nextAt(), ...waiting.map(({ at }) => at)));
    }
    await sweepExecutions(workshop.context, { until: clock() });
    for (const { message, delaySeconds } of workshop.sent.splice(0)) send(message, delaySeconds);
  }

  const { executions, wrong: traces } = await recount(workshop);
  if (executions.length !== count) wrong.push(`There are ${executions.length} executions.`);
  for (const one of executions) wrong.push(...wrongEnd(one, mishapsOf(one.id)));
  const ends = Map.groupBy(executions, ({ status, error }) => error ?? status);
  return {
    wrong: [...wrong, ...traces],
    ends: Object.fromEntries([...ends].map(([end, those]) => [end, those.length])),
  };
}

/** A lease, the sweep after it, and a moment for the worker that gets the message. */
const recoveredMs = 30 * second + 2 * minute;

/** Holds an end to what happened on the way to it. */
function wrongEnd({ id, error, durationMs = 0, claims }: ExecutionHead, { deaths, lost }: Mishaps): string[] {
  const wrong: string[] = [];
  if (error !== undefined && !['lost', 'deadline', refusal].includes(error)) wrong.push(`${id} failed with ${error}`);
  if (error === 'lost' && deaths.length < 2) wrong.push(`${id} is lost after ${deaths.length} deaths`);
  if ((error === 'lost') !== claims > 2) wrong.push(`${id} ended with ${error} after ${claims} claims`);
  // Nobody works longer than about four minutes: only who has died or was not woken can come to the deadline.
  if (error === 'deadline' && deaths.length + lost === 0) wrong.push(`${id} failed for throttling alone`);
  const latest = 10 * minute + (1 + deaths.length + lost) * recoveredMs;
  if (durationMs > latest) wrong.push(`${id} ended after ${durationMs} ms`);
  return wrong;
}
