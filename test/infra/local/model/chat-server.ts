import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { json, startBedrock } from '../../../model/bedrock-server.ts';

export { json };

type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: unknown };

/** A server of the OpenAI chat protocol, with its received requests and its responses. */
export type ChatServer = {
  baseUrl: string;
  received: Received[];
  chat: (response: ServerResponse) => void;
  models: (response: ServerResponse) => void;
};

/** Starts a server that has two models and answers `Hello.`; tests replace `chat` and `models`. */
export async function startChatServer(): Promise<ChatServer> {
  const server = await startBedrock();
  const chat: ChatServer = {
    baseUrl: `${server.endpoint}/v1`,
    received: [],
    chat: json(completion('Hello.')),
    models: json({ object: 'list', data: [{ id: 'llama' }, { id: 'qwen' }] }),
  };
  server.answer = (response) => {
    const { method, path, headers, body } = server.received.at(-1) as Received & { body: string };
    chat.received.push({ method, path, headers, body: body === '' ? undefined : JSON.parse(body) });
    if (method === 'POST' && path === '/v1/chat/completions') return chat.chat(response);
    if (method === 'GET' && path === '/v1/models') return chat.models(response);
    response.writeHead(404).end();
  };
  return chat;
}

export function completion(content: unknown, finish_reason: unknown = 'stop', more: object = {}) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'llama',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }],
    usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
    ...more,
  };
}
