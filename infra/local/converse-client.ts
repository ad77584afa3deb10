import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import * as v from 'valibot';
import { type BedrockError, wordsOf } from './bedrock-errors.ts';

/** What a model is asked, as the model port asks it. */
export type Request = { model: string; system: string; user: string; maxTokens: number };

/** What came of it, in Bedrock's terms. */
export type Reply =
  | { kind: 'answer'; text: string; stopReason: string; tokens?: { input: number; output: number } }
  | { kind: 'error'; name: BedrockError; message?: string }
  /** An answer that breaks off. */
  | { kind: 'malformed' };

/** A model of this machine. `signal` aborts once nobody waits for the answer any more. */
export type LocalModel = (request: Request, signal: AbortSignal) => Promise<Reply>;

/** A running endpoint. */
export type ConverseServer = { endpoint: string; stop: () => Promise<void> };

/** Bedrock takes no text that is blank. */
const Text = v.object({ text: v.pipe(v.string(), v.regex(/\S/)) });

/** What the model port sends; whatever else Converse knows is refused, so that no test passes by what is ignored. */
const Body = v.strictObject({
  system: v.optional(v.strictTuple([Text])),
  messages: v.strictTuple([v.strictObject({ role: v.literal('user'), content: v.strictTuple([Text]) })]),
  inferenceConfig: v.strictObject({ maxTokens: v.pipe(v.number(), v.integer(), v.minValue(1)) }),
  outputConfig: v.optional(v.strictObject({ effort: v.literal('low') })),
});

/** Serves Bedrock's Converse operation on the loopback, so that its real client is always what asks. */
export async function startConverseServer(model: LocalModel): Promise<ConverseServer> {
  const server = createServer(async (request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const reply = await replyTo(request, model, gone.signal).catch((): Reply => failed('InternalServerException'));
    if (!response.destroyed) send(response, reply);
  });
  // An idle connection that is closed here while the client sends on it would be a fault of the network.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const failed = (name: BedrockError): Reply => ({ kind: 'error', name });

async function replyTo(request: IncomingMessage, model: LocalModel, signal: AbortSignal): Promise<Reply> {
  const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
  const [, id] = /^\/model\/([^/]+)\/converse$/.exec(request.url as string) ?? [];
  if (request.method !== 'POST' || id === undefined) return failed('ResourceNotFoundException');
  const body = v.safeParse(Body, parsed(Buffer.concat(chunks).toString('utf8')));
  if (!body.success) return failed('ValidationException');
  const { system, messages, inferenceConfig } = body.output;
  const question = {
    model: decodeURIComponent(id),
    system: system?.[0].text ?? '',
    user: messages[0].content[0].text,
    maxTokens: inferenceConfig.maxTokens,
  };
  return model(question, signal);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, reply: Reply): void {
  response.setHeader('Content-Type', 'application/json');
  if (reply.kind === 'malformed') return void response.end('{"output":{"message":{"role":"assistant","content":[{"te');
  if (reply.kind === 'answer') return void response.end(JSON.stringify(bodyOf(reply)));
  const { status, message } = wordsOf(reply.name);
  response.writeHead(status, { 'x-amzn-ErrorType': reply.name });
  response.end(JSON.stringify({ message: reply.message ?? message }));
}

function bodyOf({ text, stopReason, tokens }: Extract<Reply, { kind: 'answer' }>) {
  return {
    output: { message: { role: 'assistant', content: [{ text }] } },
    stopReason,
    ...(tokens && {
      usage: {
        inputTokens: tokens.input,
        outputTokens: tokens.output,
        totalTokens: tokens.input + tokens.output,
      },
    }),
  };
}
