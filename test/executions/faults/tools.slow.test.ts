import { expect, it } from 'vitest';
import { sweepExecutions } from '../../../lib/executions/run/execution-messages.ts';
import type { Model } from '../../../lib/model/converse.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { readExecutionPage } from '../../../lib/table/executions/execution-lists.ts';
import { testSeed } from '../../seeded.ts';
import { randomFrom } from '../../soak/random.ts';
import { dynamodbError } from '../../table/fixtures/dynamodb-errors.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { createTestExecutions, scriptedModel } from '../test-executions.ts';
import { createExpectedTokens } from './expected-tokens.ts';
import {
  checkExecutions,
  checkSplitting,
  checkTokens,
  createKillableWorkers,
  halfStepsWithTools,
  inputOf,
  splitting,
} from './killed.ts';

const executions = 500;
const executionsAtOnce = 10;

/** The shares of workers that are killed, of messages that are received twice, and of calls that are throttled. */
const [killed, duplicated, throttled] = [0.2, 0.3, 0.3];

/** The maximum number of rounds in which messages are received, 30 seconds apart. */
const maxRounds = 80;

it(`500 executions with tools end once and do nothing twice, seed ${testSeed}`, async () => {
  const random = randomFrom(testSeed);
  const tokens = createExpectedTokens(() => true);
  const workers = createKillableWorkers(tokens);
  const throttling = (table: Table): Table =>
    interceptTable(table, async (send, { input }) => {
      const isWrite = 'TransactItems' in input || 'UpdateExpression' in input;
      if (isWrite && random() < throttled) throw dynamodbError('ThrottlingException');
      return send();
    });
  const fixture = await createTestExecutions({
    ...{ cap: executions },
    through: (table) => workers.table(throttling(table)),
  });
  const { organization, timeline } = fixture;
  await fixture.update('writer', { capabilities: ['tasks.write'] });
  // The pauses of throttled workers move the clock of all executions, which must not end their time.
  const day = 24 * 60 * 60_000;
  fixture.context.waitingLimitMs = day;
  fixture.context.executionLimits = { ...fixture.context.executionLimits, durationMs: day };
  const { tools } = scriptedModel({ work: splitting });
  const model: Model = async (question) =>
    random() < throttled ? { kind: 'throttled', tokens: 0 } : workers.model(tools.model)(question);

  function work(executionId: string): Promise<unknown> {
    const left = random() < killed ? Math.floor(random() * halfStepsWithTools) : undefined;
    return workers.run(
      fixture,
      executionId,
      () => fixture.run({ organization, executionId }, { ...tools, model }),
      left,
    );
  }

  const runningNow = async (): Promise<number> => {
    const filter = { status: 'running' as const };
    return (await readExecutionPage(fixture, organization, filter, { limit: 1, offset: 0 })).total;
  };

  const waiting = new Set<string>();
  for (let nth = 0; nth < executions; nth++) {
    const { id: taskId } = await fixture.addTask();
    waiting.add((await fixture.start({ taskId, input: inputOf(nth) })).executionId);
  }
  // A round without messages is not the last one: a worker that is killed before it takes its lease leaves its execution
  // to a sweep a minute later.
  for (let round = 0; round < maxRounds && (await runningNow()) > 0; round++) {
    const ids = [...waiting];
    waiting.clear();
    for (let at = 0; at < ids.length; at += executionsAtOnce) {
      const received = ids.slice(at, at + executionsAtOnce);
      const all = received.flatMap((id) => (random() < duplicated ? [id, id] : [id]));
      await timeline.finish(Promise.all(all.map(work)));
    }
    await timeline.pass(30_000);
    await sweepExecutions({ ...fixture.context, table: fixture.table }, { until: fixture.clock() });
    for (const { message } of fixture.sent.splice(0)) waiting.add(message.executionId);
  }
  const found = await checkExecutions(fixture);
  expect(found.executions).toHaveLength(executions);
  expect([...found.wrong, ...(await checkSplitting(fixture, found.executions))]).toEqual([]);
  expect(checkTokens(tokens, found.executions)).toEqual([]);
  const errors = new Set(found.executions.map(({ status, error }) => error ?? status));
  // Two workers of an execution in a row can be killed in the same step.
  expect([...errors].filter((error) => !['completed', 'lost'].includes(error))).toEqual([]);
  const completed = found.executions.filter(({ status }) => status === 'completed');
  expect(completed.length).toBeGreaterThan(executions * 0.9);
}, 900_000);
