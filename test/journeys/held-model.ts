import type { ServerResponse } from 'node:http';
import { completion, json, startChatServer } from '../infra/local/model/chat-server.ts';
import { until } from './deployment.ts';

/** A model whose responses the test triggers. It passes every quality gate at once. */
export type HeldModel = {
  /** The environment variables that have the service call it. */
  environment: Record<string, string>;
  /** Waits until it has got this number of requests for work in all. */
  asked: (count: number, withinMs?: number) => Promise<void>;
  /** Responds to all requests that wait. */
  answer: () => void;
};

/** Starts a model of the chat protocol. */
export async function startHeldModel(): Promise<HeldModel> {
  const server = await startChatServer();
  const held: ServerResponse[] = [];
  let asked = 0;
  server.chat = (response) => {
    if (JSON.stringify(server.received.at(-1)?.body).includes('VERDICT:'))
      return json(completion('Good.\nVERDICT: PASS'))(response);
    asked++;
    held.push(response);
  };
  return {
    environment: { MODEL_BASE_URL: server.baseUrl, MODEL_NAME: 'held' },
    asked: async (count, withinMs) => {
      await until(`the model is asked ${count} times`, () => asked >= count, withinMs);
    },
    answer: () => {
      for (const response of held.splice(0)) json(completion('It is done.'))(response);
    },
  };
}
