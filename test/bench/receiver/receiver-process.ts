import { startLoopbackServer } from '../../servers/loopback.ts';
import { type Arrival, preciseNow } from './arrivals.ts';

/** A question over the channel of the receiver. */
export type Question = 'count' | 'take';

/** A message of the receiver: its URL at the start, then an answer to each question. */
export type Said = { url: string } | { count: number } | { arrivals: Arrival[] };

// A process of its own, forked by `receiver.ts`. It does little for each request: bodies are read when the arrivals are.
const got: { path: string; at: number; deliveryId: string; chunks: Buffer[] }[] = [];

const { url } = await startLoopbackServer((request, response) => {
  const { url: path = '', headers } = request;
  const deliveryId = String(headers['x-service-delivery']);
  const one = { path, at: preciseNow(), deliveryId, chunks: [] as Buffer[] };
  got.push(one);
  request.on('data', (chunk: Buffer) => one.chunks.push(chunk));
  request.on('end', () => response.writeHead(204).end());
});
const say = (said: Said) => process.send?.(said);

process.on('disconnect', () => process.exit());
process.on('message', (question: Question) => {
  if (question === 'count') say({ count: got.length });
  else say({ arrivals: got.splice(0).map(arrivalOf) });
});
say({ url });

function arrivalOf({ chunks, ...one }: (typeof got)[number]): Arrival {
  const [, title = ''] = /"title":"([^"]*)"/.exec(Buffer.concat(chunks).toString('utf8')) ?? [];
  return { ...one, title };
}
