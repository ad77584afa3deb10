import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

/** A received request, with its body parsed. */
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
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString('utf8');
    const { method = '', url: path = '', headers } = request;
    chat.received.push({ method, path, headers, body: text === '' ? undefined : JSON.parse(text) });
    if (method === 'POST' && path === '/v1/chat/completions') return chat.chat(response);
    if (method === 'GET' && path === '/v1/models') return chat.models(response);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const chat: ChatServer = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    received: [],
    chat: json(completion('Hello.')),
    models: json({ object: 'list', data: [{ id: 'llama' }, { id: 'qwen' }] }),
  };
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return chat;
}

/** Returns a function that responds with JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}) {
  return (response: ServerResponse) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

/** Returns a chat completion in the format of the protocol. */
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
