import { json } from 'node:stream/consumers';
import { verdictLine } from '../../../lib/executions/prompts/execution-prompts.ts';
import { type LoopbackServer, startLoopbackServer } from '../../servers/loopback.ts';

/** The fields of a request in the OpenAI chat protocol that the model reads. */
type Question = { model: string; messages: { role: string; content: string }[] };

/**
 * Starts a model for the emulator's Bedrock, by the OpenAI chat protocol. It passes every verdict, and answers other requests
 * with its name and their messages. A message can name a URL, as in `After http://127.0.0.1:3000:`: the model answers when that
 * URL has answered.
 */
export function startModel(): Promise<LoopbackServer> {
  return startLoopbackServer(async (request, response) => {
    const { model, messages } = (await json(request)) as Question;
    const prompt = messages.map(({ role, content }) => `${role}: ${content}`).join('\n');
    const isVerdict = prompt.includes(verdictLine);
    const [, awaited] = /After (http:\S+):/.exec(prompt) ?? [];
    if (awaited && !isVerdict) await fetch(awaited).catch(() => {});
    const content = isVerdict ? 'VERDICT: PASS' : `${model} got:\n${prompt}`;
    const answer = {
      choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 20, completion_tokens: 10 },
    };
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer));
  });
}
