import { expect, it } from 'vitest';
import { standardModel } from '../../lib/contract/agents/models.ts';
import { createConverseModel, type ToolDefinition, type Turn } from '../../lib/model/converse.ts';
import { createCachingClient, outputTokens } from './caching-client.ts';

/** A model whose requests have no cache points, and are the same otherwise. */
const uncachedModel = 'amazon.nova-pro-v1:0';

const tools: ToolDefinition[] = Array.from({ length: 6 }, (_, at) => ({
  name: `tool_${at}`,
  description: 'What it does and when to use it. '.repeat(10),
  inputSchema: { type: 'object', properties: { id: { type: 'string', description: 'The id of a task. '.repeat(10) } } },
}));
const system = 'You plan releases and report the state of each. '.repeat(40);
const user = 'Prepare the release of Friday. '.repeat(20);
const output = JSON.stringify({ title: 'A task', description: 'What there is to do. '.repeat(80) });

/** Lets a model answer until it calls no tool, and returns the tokens of each question as the answers say them. */
async function converse(model: string, calls: (nth: number) => number) {
  const { client, usages } = createCachingClient(calls);
  const ask = createConverseModel(client);
  const { signal } = new AbortController();
  const turns: Turn[] = [];
  const answers = [];
  for (;;) {
    const answer = await ask({ model, system, user, turns: [...turns], tools, maxTokens: 100, signal });
    answers.push(answer);
    if (answer.kind !== 'tools') break;
    turns.push({ content: answer.content, results: answer.calls.map(({ id }) => ({ id, output, isError: false })) });
  }
  /** The tokens of input that the model processed anew: all but the tokens that were read from the cache. */
  const processed = answers.reduce((sum, { tokens, cached }) => sum + tokens - outputTokens - (cached?.read ?? 0), 0);
  /** All tokens of input of each question. */
  const inputs = usages.map(({ totalTokens }) => totalTokens - outputTokens);
  return { answers, usages, processed, inputs };
}

/** The number of calls in each answer of a conversation of six answers. */
const sixAnswers = (nth: number) => (nth < 5 ? 1 : 0);

it('a conversation of six answers processes each token once with caching: less than a third of all tokens', async () => {
  const [cached, uncached] = [await converse(standardModel, sixAnswers), await converse(uncachedModel, sixAnswers)];
  expect(cached.answers).toHaveLength(6);
  expect(cached.processed).toBe(cached.inputs.at(-1));
  expect(cached.processed * 3).toBeLessThan(uncached.processed);
});

it('the tokens of an answer are the same with caching as without, and say what was read and written', async () => {
  const { answers, usages } = await converse(standardModel, sixAnswers);
  const { answers: uncached } = await converse(uncachedModel, sixAnswers);
  expect(answers.map(({ tokens }) => tokens)).toEqual(uncached.map(({ tokens }) => tokens));
  expect(answers.map(({ cached }) => cached)).toEqual(
    usages.map(({ cacheReadInputTokens: read, cacheWriteInputTokens: written }) => ({ read, written })),
  );
  expect(answers[0]?.cached?.read).toBe(0);
  for (const { cached } of uncached) expect(cached).toBeUndefined();
});

it('a conversation is read from the cache also after an answer with more calls than Bedrock looks back', async () => {
  const { answers, inputs } = await converse(standardModel, (nth) => (nth < 2 ? 15 : 0));
  expect(answers[2]?.cached?.read).toBe(inputs[1]);
});
