import type { ServerResponse } from 'node:http';
import { completion, json, startChatServer } from '../infra/local/model/chat-server.ts';
import { until } from './deployment.ts';

/** A model that answers work when it is told to, and passes at once what it is asked to judge. */
export type HeldModel = {
  /** What the service is started with to be answered by it. */
  environment: Record<string, string>;
  /** How often it was asked for work so far. */
  count: () => number;
  /** Waits until it was asked for work so often, in all. */
  asked: (count: number, withinMs?: number) => Promise<void>;
  /** Answers so many of those who wait, the first to ask first; all unless told otherwise. */
  answer: (count?: number) => void;
};

/** Starts a model of the chat protocol that the test holds. */
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
    count: () => asked,
    asked: async (count, withinMs) => {
      await until(`the model is asked ${count} times`, () => asked >= count, withinMs);
    },
    answer: (count = held.length) => {
      for (const response of held.splice(0, count)) json(completion('It is done.'))(response);
    },
  };
}
