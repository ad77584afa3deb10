import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verdictLine } from '../../lib/executions/prompts.ts';

/** The fields of a request in the OpenAI chat protocol that the model reads. */
type Question = { model: string; messages: { role: string; content: string }[] };

/** A model behind the emulator's Bedrock. Its URL serves the OpenAI chat protocol. */
export type ChatModel = { url: string; stop: () => void };

/** Starts a model that passes every verdict, and answers other requests with its name and their messages. */
export async function startModel(): Promise<ChatModel> {
  const server = createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
    const { model, messages } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Question;
    const prompt = messages.map(({ role, content }) => `${role}: ${content}`).join('\n');
    const content = prompt.includes(verdictLine) ? 'VERDICT: PASS' : `${model} got:\n${prompt}`;
    const answer = {
      choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 20, completion_tokens: 10 },
    };
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
