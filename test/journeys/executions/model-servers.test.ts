import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { dataOf } from '../../api.ts';
import { completion, json, startChatServer } from '../../infra/local/model/chat-server.ts';
import { hasGrammar } from '../api/grammar.ts';
import { startDeployment } from '../deployment.ts';
import { createAgent, endOf, execute } from '../requests.ts';

/** A request for a completion, as far as the servers read it. */
type Asked = {
  model: string;
  max_tokens?: number;
  messages: Record<string, unknown>[];
  tools?: { function: { name: string; parameters: object } }[];
};
type Answer = (response: ServerResponse) => void;

const listTasks = { id: 'call_0', type: 'function', function: { name: 'list_tasks', arguments: '{}' } };

/** Answers with a message. */
const message = (fields: object, finish_reason: unknown = 'stop', more: object = {}): Answer =>
  json(
    completion('', 'stop', {
      choices: [{ index: 0, message: { role: 'assistant', ...fields }, finish_reason }],
      ...more,
    }),
  );
const error = (status: number, fields: object): Answer => json({ error: fields }, status);

/** How servers answer to work, by the name of the model: first a call of a tool, then `Work.` */
const servers: Record<string, (asked: Asked, isFirst: boolean) => Answer> = {
  // It makes a grammar of each schema.
  'llama.cpp': ({ tools = [] }, isFirst) => {
    if (!tools.every((tool) => hasGrammar(tool.function.parameters)))
      return error(400, { message: 'failed to parse grammar' });
    return isFirst ? message({ content: null, tool_calls: [listTasks] }, 'tool_calls') : message({ content: 'Work.' });
  },
  ollama: (_, isFirst) =>
    isFirst
      ? message({ content: '', tool_calls: [{ ...listTasks, id: 0, index: 0 }] }, 'stop')
      : message({ content: '<think>\n\n</think>\n\nWork.' }),
  tgi: (_, isFirst) =>
    isFirst
      ? message({ tool_calls: [{ ...listTasks, function: { name: 'list_tasks', arguments: {} } }] }, 'eos_token')
      : message({ content: 'Work.' }, 'eos_token', { usage: { total_tokens: 12 } }),
  vllm: (_, isFirst) =>
    isFirst
      ? message(
          {
            content: null,
            tool_calls: [{ ...listTasks, function: { name: 'list_tasks<|channel|>commentary', arguments: '{}' } }],
          },
          null,
        )
      : message({ content: 'Work.' }, null),
  mistral: (_, isFirst) =>
    isFirst
      ? message({ content: [{ type: 'thinking', thinking: [] }], tool_calls: [listTasks] }, 'tool_calls')
      : message({ content: [{ type: 'text', text: 'Work.' }] }),
  // They refuse a message without what they have sent with it.
  deepseek: ({ messages }, isFirst) => {
    if (isFirst)
      return message({ content: '', reasoning_content: 'I should list', tool_calls: [listTasks] }, 'tool_calls');
    const isWhole = messages.some(({ reasoning_content: thoughts }) => thoughts === 'I should list');
    return isWhole
      ? message({ content: 'Work.', reasoning_content: 'Hm.' })
      : error(400, { message: 'Missing reasoning_content' });
  },
  gemini: ({ messages }, isFirst) => {
    const call = { ...listTasks, extra_content: { google: { thought_signature: 'c2ln' } } };
    if (isFirst) return message({ tool_calls: [call] }, 'tool_calls');
    const isSigned = JSON.stringify(messages).includes('"extra_content":{"google":{"thought_signature":"c2ln"}}');
    return isSigned
      ? message({ content: 'Work.' })
      : error(400, { message: 'Function call is missing a thought_signature' });
  },
  openai: ({ max_tokens }, isFirst) => {
    if (max_tokens !== undefined)
      return error(400, { message: 'No.', param: 'max_tokens', code: 'unsupported_parameter' });
    return isFirst
      ? message({ content: null, refusal: null, tool_calls: [listTasks] }, 'tool_calls')
      : message({ content: 'Work.' });
  },
  groq: ({ messages }, isFirst) => {
    if (isFirst && messages.length === 2 && !JSON.stringify(messages).includes('could not be used'))
      return error(400, {
        message: 'Failed to call a function.',
        code: 'tool_use_failed',
        failed_generation: '<function',
      });
    return isFirst ? message({ tool_calls: [listTasks] }, 'tool_calls') : message({ content: 'Work.' });
  },
};

const server = await startChatServer();
server.chat = (response) => {
  const asked = server.received.at(-1)?.body as Asked;
  const answers = servers[asked.model];
  if (!answers) return message({ content: '### **VERDICT: PASS** ✅' })(response);
  if (JSON.stringify(asked.messages).includes('VERDICT:')) {
    const isShort = asked.max_tokens !== undefined && asked.max_tokens <= 1_024;
    // A model that thinks uses a small limit up.
    const answer = isShort
      ? message({ content: '', reasoning_content: 'hm' }, 'length')
      : message({ content: 'VERDICT: PASS' });
    return answer(response);
  }
  return answers(asked, !asked.messages.some(({ role }) => role === 'tool'))(response);
};
const service = await startDeployment({ environment: { MODEL_BASE_URL: server.baseUrl, MODEL_NAME: 'judge' } });

it.each(Object.keys(servers))(
  'an agent with tools whose model answers as those of %s do runs to its end',
  async (model) => {
    const capabilities = ['tasks.read', 'tasks.write', 'delegate', 'skills'];
    const name = await createAgent(service, `with-${model.replace('.', '-')}`, { model, capabilities });
    const run = async () => endOf(service, name, await execute(service, name, 'List the tasks.'));
    const execution = await run();
    expect(execution).toMatchObject({ status: 'completed', output: 'Work.' });
    expect(execution.qualityGates).toEqual({ selfTest: 'passed', qaReview: 'passed' });
    const { id } = execution;
    const steps = dataOf(await service.api.listSteps({ params: { name, id } })) as { name: string }[];
    expect(steps.map((step) => step.name)).toContain('list_tasks');
    if (model !== 'openai') return;
    const before = server.received.length;
    expect(await run()).toMatchObject({ status: 'completed' });
    expect(
      server.received
        .slice(before)
        .filter(({ body }) => (body as Asked).model === model && 'max_tokens' in (body as Asked)),
    ).toEqual([]);
  },
);
