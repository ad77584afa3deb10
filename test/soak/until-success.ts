import { setTimeout as pause } from 'node:timers/promises';
import { type Api, successOf } from '../api.ts';
import type { Answer } from '../service.ts';
import type { ServiceProcess } from './service-process.ts';

/** The service, and a signal that ends the requests early. */
type Requesting = { service: ServiceProcess; over: AbortSignal };

/**
 * Sends a request again and again until it has a response below 500.
 *
 * @throws Error for a response of 4xx
 */
export async function untilSuccess(
  { service, over }: Requesting,
  send: (api: Api) => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    // No complete response means that the service, or the connection, was interrupted.
    const answer = await send(service.api()).catch(() => undefined);
    if (answer && answer.status < 500) {
      successOf(answer);
      return answer;
    }
    await pause(100, undefined, { signal: over });
  }
}
