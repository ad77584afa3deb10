import { json, startBedrock } from '../../model/bedrock-server.ts';
import { hasGrammar } from '../api/grammar.ts';

/** A request for a completion, as far as the server reads it. */
type Asked = {
  model: string;
  messages: { role: string; content: unknown; tool_calls?: { id: string }[]; tool_call_id?: string }[];
  max_tokens: number;
  tools?: { function: { name: string; parameters: object } }[];
};

/** The models that are downloaded. Those for search are listed too. */
const [embedder, chatter] = ['text-embedding-nomic-embed-text-v1.5', 'qwen/qwen3-8b'] as const;

/** The context that the model is loaded with, in tokens. */
const contextTokens = 16_384;

/**
 * Starts a server that answers as the server of LM Studio does, by its documentation and its bug tracker
 * (lmstudio.ai/docs/developer/openai-compat, github.com/lmstudio-ai/lmstudio-bug-tracker): an unknown path has status 200,
 * an unknown model and a long input have status 400, and some errors are texts. Its model calls `list_tasks`, then says
 * `Work.`; it passes each quality gate.
 *
 * @returns the base URL without `/v1`
 */
export async function startLmStudio(): Promise<{ url: string }> {
  const server = await startBedrock();
  let calls = 0;
  const answerTo = ({ model, messages, max_tokens: limit, tools = [] }: Asked) => {
    if (model !== chatter) return modelError(model);
    const length = Math.ceil(JSON.stringify([messages, tools]).length / 4);
    if (length > contextTokens)
      return json(
        {
          error: `Trying to keep the first ${length} tokens when context the overflows. However, the model is loaded with context length of only ${contextTokens} tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input`,
        },
        400,
      );
    if (!tools.every((tool) => hasGrammar(tool.function.parameters)))
      return json({ error: 'Error in channel: failed to parse grammar' }, 400);
    if (JSON.stringify(messages).includes('VERDICT:'))
      return limit < 1_024
        ? completion({ content: '', reasoning_content: 'Hm.' }, 'length')
        : completion({ content: 'VERDICT: PASS', reasoning_content: 'Hm.' }, 'stop');
    const called = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
    const results = messages.filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id);
    if (JSON.stringify(called) !== JSON.stringify(results))
      return json({ error: 'Invalid messages: each call needs its result.' }, 400);
    if (called.length > 0 || tools.length === 0)
      return completion({ content: '<think>\nIt is done.\n</think>\n\nWork.', tool_calls: [] }, 'stop');
    const id = String(365_174_485 + calls++);
    const call = { type: 'function', id, function: { name: 'list_tasks', arguments: '{"limit":1}' } };
    return completion({ content: '\n\n', tool_calls: [call] }, 'tool_calls');
  };
  server.answer = (response) => {
    const { method, path, body } = server.received.at(-1) as (typeof server.received)[number];
    const route = `${method} ${path}`;
    if (route === 'GET /v1/models') return json(models)(response);
    if (route === 'POST /v1/chat/completions') return answerTo(JSON.parse(body))(response);
    return json({ error: `Unexpected endpoint or method. (${route})` })(response);
  };
  return { url: server.endpoint };
}

const models = {
  object: 'list',
  data: [embedder, chatter].map((id) => ({ id, object: 'model', owned_by: 'organization_owner' })),
};

function modelError(model: string) {
  const message =
    model === embedder
      ? `Failed to load model "${model}". Error: Model is not llm.`
      : `Invalid model identifier "${model}". Please specify a valid downloaded model (e.g., ${chatter}).`;
  return json({ error: { message, type: 'invalid_request_error', param: 'model', code: 'model_not_found' } }, 400);
}

function completion(message: object, finish_reason: string) {
  return json({
    id: 'chatcmpl-t8tsxqx7kwi9ekj70xwwl',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: chatter,
    choices: [{ index: 0, logprobs: null, finish_reason, message: { role: 'assistant', ...message } }],
    usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
    stats: {},
    system_fingerprint: chatter,
  });
}
