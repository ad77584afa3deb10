import { expect, it } from 'vitest';
import { sweepExecutions } from '../../../lib/executions/run/execution-messages.ts';
import type { Model, ModelAnswer, Question } from '../../../lib/model/converse.ts';
import type { ExecutionMessage } from '../../../lib/names/messages.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem, queryItems } from '../../../lib/table/access/reads.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import { readExecutionPage } from '../../../lib/table/executions/execution-lists.ts';
import { taskFrom } from '../../../lib/table/tasks/task-items.ts';
import { testSeed } from '../../seeded.ts';
import { randomFrom } from '../../soak/random.ts';
import { createTestExecutions, scriptedModel, text } from '../test-executions.ts';
import { createExpectedTokens } from './expected-tokens.ts';
import {
  checkExecutions,
  checkTokens,
  createKillableWorkers,
  halfStepsWithTools,
  inputOf,
  splitting,
} from './killed.ts';

const executions = 500;
const executionsAtOnce = 10;
const executionsOfAgent = 10;

/** The shares of workers that are killed, of executions that are cancelled, and of agents that are deleted or deactivated. */
const [killed, cancelled, deleted, deactivated] = [0.2, 0.2, 0.2, 0.2];

/** The shares of answers that come late, that come late although the call was aborted, that fail and that are throttled. */
const [late, stubborn, faulty, throttled] = [0.3, 0.1, 0.1, 0.05];

/** How late an answer, a cancellation or a deletion comes at most, in milliseconds. */
const latestMs = 8_000;

/** All tokens of answers are multiples of this, and all estimates together are less. */
const unit = 1_000_000;

/** The maximum number of rounds in which messages are received, 30 seconds apart. */
const maxRounds = 80;

/** After this time, nothing that ended an execution may have let it change a task, in milliseconds. */
const boundMs = 5_000;

it(`500 executions count the tokens of every answer, whatever ends them, and do nothing after that, seed ${testSeed}`, async () => {
  const random = randomFrom(testSeed);
  const isToolAgent = (name: string) => name.startsWith('splitter');
  /** The agent of each execution. */
  const agentOf = new Map<string, string>();
  const tokens = createExpectedTokens((id) => isToolAgent(agentOf.get(id) as string));
  const workers = createKillableWorkers(tokens);
  const fixture = await createTestExecutions({ cap: executions, through: workers.table });
  const { organization, timeline, table, context } = fixture;
  // The late answers move the clock of all executions, which must not end their time.
  const day = 24 * 60 * 60_000;
  context.waitingLimitMs = day;
  context.executionLimits = { ...context.executionLimits, durationMs: day, tokens: Number.MAX_SAFE_INTEGER };

  const { signal: never } = new AbortController();
  const scripts = {
    plain: scriptedModel({
      work: text('Done.', 3),
      selfTest: text('VERDICT: PASS', 2),
      qaReview: text('VERDICT: PASS', 1),
    }),
    splitter: scriptedModel({ work: splitting }),
  };
  const answer = async (question: Question, name: string): Promise<ModelAnswer> => {
    const isStubborn = random() < stubborn;
    if (isStubborn || random() < late) await timeline.pause(random() * latestMs, isStubborn ? never : question.signal);
    if (question.signal.aborted && !isStubborn) return { kind: 'aborted', tokens: 0 };
    if (random() < throttled) return { kind: 'throttled', tokens: 0 };
    if (random() < faulty) return { kind: 'faulty', error: 'It had a fault.', tokens: unit };
    const said = await scripts[isToolAgent(name) ? 'splitter' : 'plain'].tools.model(question);
    return { ...said, tokens: said.tokens * unit };
  };

  /** The time of what has ended an execution from outside. */
  const endedAt = new Map<string, number>();
  const live = new Set<string>();
  const inputs = new Map<string, string>();

  const work = (executionId: string): Promise<unknown> => {
    const model: Model = workers.model((question) => answer(question, agentOf.get(executionId) as string));
    const left = random() < killed ? Math.floor(random() * halfStepsWithTools) : undefined;
    const run = () => fixture.run({ organization, executionId }, { ...scripts.plain.tools, model });
    return workers.run(fixture, executionId, run, left);
  };

  /** Notes that the executions of an agent may change no task any more. */
  const noteEnds = (name: string): void => {
    const running = [...agentOf].filter(([id, agent]) => agent === name && !endedAt.has(id));
    for (const [id] of running) endedAt.set(id, fixture.clock());
  };

  /** Cancels an execution, or deletes or deactivates its agent, at any time while its worker works. */
  const disturb = async (message: ExecutionMessage): Promise<void> => {
    const { executionId: id } = message;
    const name = agentOf.get(id) as string;
    const chance = random();
    await timeline.pause(random() * latestMs, never);
    if (!live.has(name)) return;
    if (chance < cancelled) {
      const isCancelled = await fixture.cancel(message, name, context.table).then(
        () => true,
        () => false,
      );
      if (isCancelled) endedAt.set(id, fixture.clock());
    } else if (chance < cancelled + deleted / executionsOfAgent) {
      live.delete(name);
      await fixture.deleteAgent(name);
      noteEnds(name);
    } else if (chance < cancelled + (deleted + deactivated) / executionsOfAgent) {
      await fixture.update(name, { status: 'inactive' });
      noteEnds(name);
    }
  };

  const runningNow = async (): Promise<number> =>
    (await readExecutionPage(fixture, organization, { status: 'running' }, { limit: 1, offset: 0 })).total;

  const waiting = new Set<string>();
  for (let nth = 0; nth < executions; nth++) {
    const number = Math.floor(nth / executionsOfAgent);
    const name = number % 2 === 0 ? `plain-${number}` : `splitter-${number}`;
    if (!live.has(name)) await fixture.addAgent(name, { capabilities: isToolAgent(name) ? ['tasks.write'] : [] });
    live.add(name);
    const { executionId } = await fixture.start({ taskId: (await fixture.addTask()).id, input: inputOf(nth) }, name);
    agentOf.set(executionId, name);
    inputs.set(inputOf(nth), executionId);
    waiting.add(executionId);
  }
  for (let round = 0; round < maxRounds && (await runningNow()) > 0; round++) {
    const ids = [...waiting];
    waiting.clear();
    for (let at = 0; at < ids.length; at += executionsAtOnce) {
      const received = ids.slice(at, at + executionsAtOnce);
      const disturbances = received.map((executionId) => disturb({ organization, executionId }));
      await timeline.finish(Promise.all([...received.map(work), ...disturbances]));
    }
    await timeline.pass(30_000);
    await sweepExecutions({ ...context, table }, { until: fixture.clock() });
    for (const { message } of fixture.sent.splice(0)) waiting.add(message.executionId);
  }
  expect(await runningNow()).toBe(0);

  const found = await checkExecutions(fixture);
  expect(found.wrong).toEqual([]);
  expect(checkTokens(tokens, found.executions)).toEqual([]);
  for (const { id, tokensUsed = 0 } of found.executions) expect(tokensUsed % unit).toBe(tokens.of(id).estimated);
  const errors = Object.groupBy(found.executions, ({ status, error }) => error ?? status);
  expect(errors.completed?.length).toBeGreaterThan(executions / 4);
  expect(errors.cancelled?.length).toBeGreaterThan(executions / 20);
  expect(errors.agent_not_active?.length).toBeGreaterThan(0);
  expect(found.executions.length).toBeLessThan(executions);

  const expected = [...agentOf.keys()].map(tokens.of);
  const sum = expected.reduce((total, { answers, estimated }) => total + answers + estimated, 0);
  const counter = (await getItem(table, keys.running(organization))) ?? {};
  const metrics = await Array.fromAsync(queryItems(table, { pk: keys.metrics(organization) }));
  const ofDays = Object.entries(counter).filter(([name]) => /^tokens\d/.test(name));
  expect(ofDays.reduce((total, [, number]) => total + (number as number), 0)).toBe(sum);
  expect(metrics.reduce((total, item) => total + ((item.tokens as number | undefined) ?? 0), 0)).toBe(sum);

  const tasks = (Object.values(await fixture.dump()) as Item[]).filter(({ kind }) => kind === 'task').map(taskFrom);
  const afterBound = tasks.filter(({ title, createdAt, updatedAt }) => {
    const ended = endedAt.get(inputs.get(/ of (task \d+)$/.exec(title)?.[1] ?? '') ?? '');
    return ended !== undefined && Math.max(Date.parse(createdAt), Date.parse(updatedAt)) > ended + boundMs;
  });
  expect(afterBound).toEqual([]);
}, 900_000);
