import { beforeEach, describe, expect, it } from 'vitest';
import { standardModel } from '../../lib/contract/agents/models.ts';
import { createBedrockModel } from '../../lib/model/bedrock.ts';
import type { Model, ModelAnswer, Question, ToolDefinition, Turn } from '../../lib/model/converse.ts';
import { nested } from '../values/nested.ts';
import { type BedrockServer, json, startBedrock } from './bedrock-server.ts';

let bedrock: BedrockServer;
let model: Model;

beforeEach(async () => {
  bedrock = await startBedrock();
  model = createBedrockModel({ MODEL_ENDPOINT: bedrock.endpoint });
});

const getTask: ToolDefinition = {
  name: 'get_task',
  description: 'Get a task.',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
};

const usage = { inputTokens: 7, outputTokens: 5, totalTokens: 12 };
const message = (content: unknown, stopReason = 'tool_use', more: object = {}) =>
  json({ output: { message: { role: 'assistant', content } }, stopReason, usage, ...more });
const toolUse = (input: unknown, more: object = {}) => ({
  toolUse: { toolUseId: 'tooluse_1', name: 'get_task', input, ...more },
});

/** A model whose requests Bedrock does not cache, so that their messages have no cache points. */
const uncached = 'amazon.nova-pro-v1:0';

/** Asks the model with one tool, and lets the server send this response. */
function ask(answer: ReturnType<typeof json>, more: Partial<Question> = {}): Promise<ModelAnswer> {
  bedrock.answer = answer;
  const { signal } = new AbortController();
  return model({ model: uncached, system: '', user: 'Do it.', maxTokens: 100, tools: [getTask], signal, ...more });
}

/** Returns the body of the request that a conversation sends. */
async function sent(turns: readonly Turn[], more: Partial<Question> = {}) {
  await ask(message([{ text: 'Done.' }], 'end_turn'), { turns, ...more });
  return JSON.parse(bedrock.received.at(-1)?.body ?? '');
}

/** Returns the turn of a message as a model sent it, with a result for each of its calls. */
async function turnOf(content: unknown, output = '{"id":"tk_1"}', isError = false): Promise<Turn> {
  const answer = await ask(message(content));
  if (answer.kind !== 'tools') throw new Error(`The answer is ${answer.kind}.`);
  return { content: answer.content, results: answer.calls.map(({ id }) => ({ id, output, isError })) };
}

const prompt = { role: 'user', content: [{ text: 'Do it.' }] };
const unreadable = { kind: 'faulty', error: 'The answer of the model could not be read.', tokens: 12 };

describe('a request with tools', () => {
  it('has the tools and the first user message, then each message of the model and the results of its calls', async () => {
    const calls = [{ text: 'I read two.' }, toolUse({ id: 'a' }), toolUse({ id: 'b' }, { toolUseId: 'tooluse_2' })];
    const turns = [await turnOf(calls), await turnOf([toolUse({ id: 'c' })], '{"error":{"code":"not_found"}}', true)];
    const result = (toolUseId: string, text: string, status: string) => ({
      toolResult: { toolUseId, content: [{ text }], status },
    });
    expect(await sent(turns)).toEqual({
      messages: [
        prompt,
        { role: 'assistant', content: calls },
        {
          role: 'user',
          content: ['tooluse_1', 'tooluse_2'].map((id) => result(id, '{"id":"tk_1"}', 'success')),
        },
        { role: 'assistant', content: [toolUse({ id: 'c' })] },
        { role: 'user', content: [result('tooluse_1', '{"error":{"code":"not_found"}}', 'error')] },
      ],
      inferenceConfig: { maxTokens: 100 },
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: 'get_task',
              description: 'Get a task.',
              inputSchema: { json: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } },
            },
          },
        ],
      },
    });
  });

  it('repeats the thoughts of the model unchanged, also encrypted ones', async () => {
    const blocks = [
      { reasoningContent: { reasoningText: { text: 'First …\n', signature: 'EqoB+/=' } } },
      { reasoningContent: { redactedContent: Buffer.from([0, 255, 254, 128, 10]).toString('base64') } },
      { text: ' Then:\n' },
      toolUse({ id: 'ä👋', deep: [{ n: 1.5, no: null }] }),
    ];
    const turn = await turnOf(blocks);
    expect(JSON.parse('content' in turn ? turn.content : '')).toEqual(blocks);
    expect((await sent([turn])).messages[1]).toEqual({ role: 'assistant', content: blocks });
  });

  it.each<[string, object[], object[]]>([
    ['a blank text', [{ text: ' \n' }, toolUse({})], [toolUse({})]],
    [
      'thoughts without a signature',
      [{ reasoningContent: { reasoningText: { text: 'Hm.' } } }, toolUse({})],
      [toolUse({})],
    ],
    ['a block of another kind', [{ somethingNew: { text: 'no' } }, toolUse({})], [toolUse({})]],
    ['no input', [toolUse(undefined)], [toolUse({})]],
    ['an empty input', [toolUse('')], [toolUse({})]],
    ['JSON text for input', [toolUse('{"id":"a"}')], [toolUse({ id: 'a' })]],
    ['input that is no object', [toolUse('{"id":')], [toolUse({ invalid: '{"id":' })]],
    ['a list for input', [toolUse([1])], [toolUse({ invalid: [1] })]],
    ['an invalid name', [toolUse({}, { name: 'tools.get task' })], [toolUse({}, { name: 'tools_get_task' })]],
    ['an empty name', [toolUse({}, { name: '' })], [toolUse({}, { name: 'unknown' })]],
    ['a long name', [toolUse({}, { name: 'x'.repeat(80) })], [toolUse({}, { name: 'x'.repeat(64) })]],
  ])('repeats a message with %s in a form that Bedrock accepts', async (_, received, repeated) => {
    expect((await sent([await turnOf(received)])).messages[1].content).toEqual(repeated);
  });

  it('has a placeholder for a blank result, and no broken characters', async () => {
    const texts = [];
    for (const output of ['', ' \n', 'a\ud83d'])
      texts.push((await sent([await turnOf([toolUse({})], output)])).messages[2].content[0].toolResult.content[0].text);
    expect(texts).toEqual(['(empty)', '(empty)', 'a\ufffd']);
  });

  it('has notes to the model at the end of the user message before them', async () => {
    const note = { note: 'Your message could not be read.' };
    const text = { text: note.note };
    expect((await sent([note])).messages).toEqual([{ role: 'user', content: [{ text: 'Do it.' }, text] }]);
    const { messages } = await sent([await turnOf([toolUse({})]), note]);
    expect(messages).toHaveLength(3);
    expect(messages[2].content.slice(1)).toEqual([text]);
  });

  it('to a model of Meta has no text beside calls and results, and no status', async () => {
    const turns = [await turnOf([{ text: 'I read.' }, toolUse({})]), { note: 'Again.' }];
    const { messages } = await sent(turns, { model: 'meta.llama4-maverick-17b-instruct-v1:0' });
    expect(messages.slice(1)).toEqual([
      { role: 'assistant', content: [toolUse({})] },
      {
        role: 'user',
        content: [{ toolResult: { toolUseId: 'tooluse_1', content: [{ text: '{"id":"tk_1"}' }, { text: 'Again.' }] } }],
      },
    ]);
  });
});

describe('a request to a model with prompt caching', () => {
  const cachePoint = { cachePoint: { type: 'default' } };
  const cached = { model: standardModel, system: 'Be brief.' };
  const places = (body: { system: object[]; toolConfig: { tools: object[] }; messages: { content: object[] }[] }) => ({
    ...{ system: body.system.map((block) => 'cachePoint' in block) },
    ...{ tools: body.toolConfig.tools.map((block) => 'cachePoint' in block) },
    messages: body.messages.map(({ content }) => content.map((block) => 'cachePoint' in block)),
  });

  it('has cache points after the tools, the system prompt and the last two user messages, at most four', async () => {
    const turn = await turnOf([toolUse({})]);
    const start = { system: [false, true], tools: [false, true] };
    expect(places(await sent([], cached))).toEqual({ ...start, messages: [[false, true]] });
    expect(places(await sent([turn, turn], cached))).toEqual({
      ...start,
      messages: [[false], [false], [false, true], [false], [false, true]],
    });
    expect(places(await sent([turn, { note: 'Again.' }], cached)).messages).toEqual([
      [false, true],
      [false],
      [false, false, true],
    ]);
    expect((await sent([], cached)).toolConfig.tools[1]).toEqual(cachePoint);
  });

  it('starts with the same bytes as the request before it', async () => {
    const turn = await turnOf([{ text: 'I read.' }, toolUse({ id: 'a', more: { n: 1 } })]);
    const withoutPoints = async (turns: Turn[]) => {
      const { messages, ...rest } = await sent(turns, cached);
      const text = JSON.stringify(messages).replaceAll(`,${JSON.stringify(cachePoint)}`, '');
      return { text: text.slice(0, -1), rest };
    };
    const [first, second] = [await withoutPoints([turn]), await withoutPoints([turn, turn])];
    expect(second.text.startsWith(first.text)).toBe(true);
    expect(second.rest).toEqual(first.rest);
  });

  it('has no cache points without tools, or without a system prompt in its place', async () => {
    const { system, messages } = await sent([], { ...cached, tools: [] });
    expect([system, messages]).toEqual([[{ text: 'Be brief.' }], [prompt]]);
    expect(await sent([], { ...cached, system: ' ' })).not.toHaveProperty('system');
    expect(JSON.stringify(await sent([], { ...cached, model: uncached }))).not.toContain('cachePoint');
  });
});

describe('an answer to a question with tools', () => {
  it.each(['tool_use', 'end_turn', 'stop_sequence'])('with calls that stops with %s has its calls', async (reason) => {
    const content = [
      { text: 'I ' },
      toolUse({ id: 'a' }),
      { text: 'read.' },
      toolUse('x', { toolUseId: 't-2', name: 'no' }),
    ];
    expect(await ask(message(content, reason))).toEqual({
      kind: 'tools',
      tokens: 12,
      content: JSON.stringify(content),
      text: 'I read.',
      calls: [
        { id: 'tooluse_1', name: 'get_task', input: { id: 'a' } },
        { id: 't-2', name: 'no', input: undefined },
      ],
    });
  });

  it.each<[string, unknown, object | undefined]>([
    ['an object', { id: 1 }, { id: 1 }],
    ['nothing', undefined, {}],
    ['null', null, {}],
    ['white space', ' ', {}],
    ['JSON text', '{"id":1}', { id: 1 }],
    ['broken JSON text', '{"id":', undefined],
    ['JSON text of a list', '[1]', undefined],
    ['JSON text of a text', '"{}"', undefined],
    ['a list', [1], undefined],
    ['a number', 1, undefined],
    ['an object of 33 levels', nested(33), nested(33)],
    ['an object of 34 levels', nested(34), undefined],
    ['JSON text of 34 levels', JSON.stringify(nested(34)), undefined],
    ['JSON text with a number that JSON does not keep', '{"id":[9007199254740993]}', undefined],
    ['a number that its parser may have changed', { id: [2 ** 53] }, undefined],
    ['other numbers', { id: [1.5, 2 ** 53 - 1] }, { id: [1.5, 2 ** 53 - 1] }],
    ['JSON text of 100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, undefined],
  ])('with %s for input has the arguments, or none', async (_, input, expected) => {
    expect(await ask(message([toolUse(input)]))).toMatchObject({ calls: [{ input: expected }] });
  });

  it('without calls is a text', async () => {
    expect(await ask(message([{ text: 'Done.' }], 'end_turn'))).toEqual({ kind: 'text', text: 'Done.', tokens: 12 });
  });

  it.each<[string, unknown]>([
    ['no call', [{ text: 'I read.' }]],
    ['no content', undefined],
    ['a call without an id', [toolUse({}, { toolUseId: undefined })]],
    ['a call with an empty id', [toolUse({}, { toolUseId: '' })]],
    ['a call without a name', [toolUse({}, { name: undefined })]],
    ['two calls with one id', [toolUse({}), toolUse({})]],
  ])('that requests a tool with %s cannot be read', async (_, content) => {
    expect(await ask(message(content))).toEqual(unreadable);
  });

  it('that stops with malformed_tool_use is malformed, which the model can correct', async () => {
    const error = 'The model requested a tool in a form that could not be read.';
    expect(await ask(message([], 'malformed_tool_use'))).toEqual({ kind: 'malformed', error, tokens: 12 });
  });

  it('that is empty is failed at first, and malformed after results, because Claude sometimes ends without a word', async () => {
    const error = 'The answer of the model was empty.';
    const turns = [await turnOf([toolUse({})])];
    for (const content of [[], [{ text: ' ' }]]) {
      const empty = message(content, 'end_turn');
      expect(await ask(empty)).toEqual({ kind: 'failed', error, tokens: 12 });
      expect(await ask(empty, { turns })).toEqual({ kind: 'malformed', error, tokens: 12 });
    }
  });

  it('that is cut off within its calls is failed', async () => {
    const error = 'The answer of the model was longer than it may be.';
    expect(await ask(message([toolUse({})], 'max_tokens'))).toEqual({
      isCutOff: true,
      kind: 'failed',
      error,
      tokens: 12,
    });
  });

  it.each([
    ['a total, which includes them', { inputTokens: 3, outputTokens: 5, totalTokens: 1_008 }, 1_008],
    ['no total', { inputTokens: 3, outputTokens: 5 }, 1_008],
  ])('counts cached tokens once with %s', async (_, tokens, total) => {
    const usage = { ...tokens, cacheReadInputTokens: 900, cacheWriteInputTokens: 100 };
    const answer = await ask(message([toolUse({})], 'tool_use', { usage }));
    expect(answer).toMatchObject({ tokens: total, cached: { read: 900, written: 100 } });
  });

  it.each([{}, { cacheReadInputTokens: 0, cacheWriteInputTokens: 0 }, { cacheReadInputTokens: '9' }])(
    'with %j has no cached tokens',
    async (cache) => {
      const answer = await ask(message([toolUse({})], 'tool_use', { usage: { ...usage, ...cache } }));
      expect(answer).toMatchObject({ tokens: 12 });
      expect(answer).not.toHaveProperty('cached');
    },
  );
});
