import { beforeEach, expect, it } from 'vitest';
import { getMetrics } from '../../lib/agents/metrics.ts';
import type { ModelAnswer } from '../../lib/model/converse.ts';
import type { ExecutionMessage } from '../../lib/names/messages.ts';
import { hashOf } from '../../lib/table/agents/agent-items.ts';
import { createTestExecutions, scriptedModel, text } from './test-executions.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const throttled: ModelAnswer = { kind: 'throttled', tokens: 0 };
const [first, second] = [hashOf('Write.'), hashOf('Rewrite.')];
let agents = 0;
let name: string;

beforeEach(async () => {
  fixture.sent.length = 0;
  name = `writer-${++agents}`;
  await fixture.addAgent(name);
});

const start = () => fixture.start({}, name);
const rewrite = () => fixture.update(name, { systemPrompt: 'Rewrite.' });
const finish = async (message: ExecutionMessage, says: Parameters<typeof scriptedModel>[0] = {}) => {
  await fixture.finishAll(message, scriptedModel(says).tools);
  return fixture.execution(message);
};
const metricsOf = async (prompt?: string) => {
  const metrics = await getMetrics(fixture.app, fixture.organization, name, { period: '7d', prompt });
  const { total, completed, failed, running } = metrics.executions;
  return { total, completed, failed, running, tokens: metrics.tokens.total };
};

it('an execution has the prompt of its start, and at its end the one that its model got', async () => {
  const message = await start();
  expect(await fixture.execution(message)).toMatchObject({ status: 'running', promptHash: first });
  await rewrite();
  expect(await fixture.execution(message)).toMatchObject({ status: 'running', promptHash: first });
  const { tools, asked } = scriptedModel();
  await fixture.finish(message, tools);
  expect(asked[0]?.system).toBe('Calm.\n\nRewrite.');
  expect(await fixture.execution(message)).toMatchObject({ status: 'completed', promptHash: second });
});

it('an execution whose prompt is changed while its model answers has the prompt that the model got', async () => {
  const work = async () => {
    await rewrite();
    return text('Done.', 1);
  };
  expect(await finish(await start(), { work })).toMatchObject({ status: 'completed', promptHash: first });
});

it('an execution whose gate throttles has the prompt of its output, whatever the prompt is at its end', async () => {
  const message = await start();
  await rewrite();
  await fixture.finish(message, scriptedModel({ qaReview: throttled }).tools);
  expect(await fixture.execution(message)).toMatchObject({ status: 'running', promptHash: second });
  await fixture.update(name, { systemPrompt: 'Later.' });
  expect(await finish(message)).toMatchObject({ status: 'completed', promptHash: second });
});

it('an execution with tools has the prompt that its model gets as soon as its first step begins', async () => {
  await fixture.update(name, { capabilities: ['tasks.write'] });
  const message = await start();
  await rewrite();
  let stored: string | undefined;
  const work = async () => {
    stored = (await fixture.execution(message))?.promptHash;
    return text('Done.', 1);
  };
  expect(await finish(message, { work })).toMatchObject({ status: 'completed', promptHash: second });
  expect(stored).toBe(second);
});

it('an execution that fails before it asks its model has the prompt of its start', async () => {
  const message = await start();
  await rewrite();
  await fixture.timeline.pass(61 * 60_000);
  expect(await finish(message)).toMatchObject({ status: 'failed', error: 'not_started', promptHash: first });
});

it('the metrics of two prompts can be compared, and their numbers are those of all executions', async () => {
  const before = [await start(), await start(), await start()];
  for (const message of before.slice(0, 2)) await finish(message, { work: text('Done.', 100) });
  await rewrite();
  const after = await start();
  await finish(after, { work: { kind: 'failed', error: 'No.', tokens: 7 } });
  expect(await metricsOf(first)).toMatchObject({ total: 3, completed: 2, failed: 0, running: 1 });
  expect(await metricsOf(second)).toEqual({ total: 1, completed: 0, failed: 1, running: 0, tokens: 7 });
  expect(await metricsOf(hashOf('Never.'))).toEqual({ total: 0, completed: 0, failed: 0, running: 0, tokens: 0 });
  const [all, one, other] = [await metricsOf(), await metricsOf(first), await metricsOf(second)];
  expect(all).toEqual({ total: 4, completed: 2, failed: 1, running: 1, tokens: one.tokens + other.tokens });
});
