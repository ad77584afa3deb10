import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Arrival, preciseNow } from './arrivals.ts';

/** What the receiver is asked over its channel. */
export type Question = 'count' | 'take' | 'let go';

/** What it says: its port first of all, then an answer to each question. */
export type Said = { port: number } | { count: number } | { arrivals: Arrival[] } | { letGo: number };

/** A path that begins so gets no answer until the receiver is told to let go. */
export const hangingPath = '/hanging';

// A process of its own, forked by `receiver.ts`. It does as little as it can for each request: what it has got is read
// when it is asked for.
let got: { path: string; at: number; id: string; chunks: Buffer[] }[] = [];
const hanging = new Set<ServerResponse>();

const server = createServer((request, response) => {
  const one = { path: request.url ?? '', at: preciseNow(), id: deliveryIdOf(request.headers), chunks: [] as Buffer[] };
  request.on('data', (chunk: Buffer) => one.chunks.push(chunk));
  if (one.path.startsWith(hangingPath)) {
    hanging.add(response);
    response.on('close', () => hanging.delete(response));
    return;
  }
  got.push(one);
  request.on('end', () => response.writeHead(204).end());
});
const say = (said: Said) => process.send?.(said);

server.listen(0, '127.0.0.1', () => say({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
process.on('message', (question: Question) => {
  if (question === 'count') say({ count: got.length });
  if (question === 'take') {
    say({ arrivals: got.map(arrivalOf) });
    got = [];
  }
  if (question === 'let go') {
    say({ letGo: hanging.size });
    for (const response of hanging) response.destroy();
  }
});

function arrivalOf({ path, at, id, chunks }: (typeof got)[number]): Arrival {
  const [, title = ''] = /"title":"([^"]*)"/.exec(Buffer.concat(chunks).toString('utf8')) ?? [];
  return { path, at, deliveryId: id, title };
}

/** The header that names a delivery, of this service or of a peer. */
function deliveryIdOf(headers: IncomingHttpHeaders): string {
  return String(headers['x-service-delivery'] ?? headers['x-outpost-event-id']);
}
