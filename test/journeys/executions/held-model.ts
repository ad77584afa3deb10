import type { ServerResponse } from 'node:http';
import { completion, json, startChatServer } from '../../infra/local/model/chat-server.ts';
import { until } from '../deployment.ts';

/** A model whose responses the test triggers. It passes every quality gate at once. */
export type HeldModel = {
  /** The environment variables that have the service call it. */
  environment: Record<string, string>;
  /** Waits until it has got this number of requests for work in all. */
  asked: (count: number, withinMs?: number) => Promise<void>;
  /** Responds to all requests that wait. */
  answer: () => void;
  /** Responds with 429 to all requests for work that wait, and to all until the next `answer`. These are not counted. */
  throttle: () => void;
};

/** Starts a model of the chat protocol. */
export async function startHeldModel(): Promise<HeldModel> {
  const server = await startChatServer();
  const held: ServerResponse[] = [];
  const throttled = json({ error: { message: 'Rate limit reached' } }, 429);
  let asked = 0;
  let isThrottling = false;
  server.chat = (response) => {
    if (JSON.stringify(server.received.at(-1)?.body).includes('VERDICT:'))
      return json(completion('Good.\nVERDICT: PASS'))(response);
    if (isThrottling) return throttled(response);
    asked++;
    held.push(response);
  };
  return {
    environment: { MODEL_BASE_URL: server.baseUrl, MODEL_NAME: 'held' },
    asked: async (count, withinMs) => {
      await until(`the model is asked ${count} times`, () => asked >= count, withinMs);
    },
    throttle: () => {
      isThrottling = true;
      for (const response of held.splice(0)) throttled(response);
    },
    answer: () => {
      isThrottling = false;
      for (const response of held.splice(0)) json(completion('It is done.'))(response);
    },
  };
}
