import { json } from 'node:stream/consumers';
import { verdictLine } from '../../lib/executions/prompts.ts';
import { type LoopbackServer, startLoopbackServer } from '../loopback.ts';

/** The fields of a request in the OpenAI chat protocol that the model reads. */
type Question = { model: string; messages: { role: string; content: string }[] };

/**
 * Starts a model for the emulator's Bedrock, by the OpenAI chat protocol. It passes every verdict, and answers other requests
 * with its name and their messages.
 */
export function startModel(): Promise<LoopbackServer> {
  return startLoopbackServer(async (request, response) => {
    const { model, messages } = (await json(request)) as Question;
    const prompt = messages.map(({ role, content }) => `${role}: ${content}`).join('\n');
    const content = prompt.includes(verdictLine) ? 'VERDICT: PASS' : `${model} got:\n${prompt}`;
    const answer = {
      choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 20, completion_tokens: 10 },
    };
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer));
  });
}
