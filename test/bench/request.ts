import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** Requests share connections and take less CPU time than those of `fetch`: what is measured has the same cores. */
const agent = new Agent({ keepAlive: true });

/**
 * Sends a request with an access token and returns the JSON of the response, or undefined for an empty one.
 *
 * @throws Error for any status but 2xx
 */
export async function request(url: string, method: string, token: string, body?: unknown): Promise<unknown> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const sent = httpRequest(url, { method, headers, agent });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const answered = await text(answer);
  const { statusCode = 0 } = answer;
  if (statusCode < 200 || statusCode > 299) throw new Error(`${method} ${url} was answered ${statusCode}: ${answered}`);
  return answered ? JSON.parse(answered) : undefined;
}
