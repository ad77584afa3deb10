import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

/** A request to the engine: what it is to do (`PutItem`), and the JSON of what with. */
export type Asked = { action: string; json: string };

/** The way to a table's engine, on which somebody waits. */
export type WatchedEngine = {
  endpoint: string;
  /** Told of each request; it is carried out when this lets it go on. */
  before: (asked: Asked) => unknown;
  /** Told of each request that was carried out; it is answered when this lets it go on, unless its answer is lost. */
  after: (asked: Asked) => unknown;
  /** Lets everything go on as it comes. */
  relent: () => void;
};

/** What `after` returns to have the connection closed instead of an answer. */
const answerIsLost = Symbol('answer is lost');

/** Whether a request writes. */
export const writes = ({ action }: Asked): boolean =>
  /^(Put|Update|Delete)Item$|^TransactWrite|^BatchWrite/.test(action);

/**
 * Has the answers to writes lost, from the nth from now on, counted from 0: of one write, unless more are named.
 *
 * @returns which writes these were, once they were made
 */
export function loseAnswers(engine: WatchedEngine, { nth = 0, count = 1 } = {}): Asked[] {
  const lost: Asked[] = [];
  let made = 0;
  engine.after = (asked) => {
    if (!writes(asked) || made++ < nth || lost.length === count) return undefined;
    lost.push(asked);
    return answerIsLost;
  };
  return lost;
}

/** Whether a request writes the record of an Idempotency-Key. */
export const recordsKey = ({ action, json }: Asked): boolean =>
  /Put|Transact/.test(action) && json.includes('"fingerprint"');

/** Whether a request changes or deletes a task or an agent: it goes by the version that was read. */
export const changesVersion = ({ action, json }: Asked): boolean =>
  /^(Put|Update|Delete)Item|^TransactWrite/.test(action) && json.includes('#version = :version');

/**
 * Opens a way to the engine that handlers can be given as theirs, clients and all: what happens on it happens to the
 * very functions that are deployed.
 */
export async function watchEngine(engine: string): Promise<WatchedEngine> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    const asked = { action: String(headers['x-amz-target']).split('.')[1] as string, json: body.toString('utf8') };
    await watched.before(asked);
    const answer = await fetch(engine, { method: 'POST', headers: headers as Record<string, string>, body });
    const text = await answer.text();
    if ((await watched.after(asked)) === answerIsLost) return void response.destroy();
    response.writeHead(answer.status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const relent = () => {
    watched.before = () => {};
    watched.after = () => {};
  };
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const watched: WatchedEngine = { endpoint, before: () => {}, after: () => {}, relent };
  return watched;
}

/** Lets the next `count` requests of a kind meet before any of them is carried out; later ones go on as they come. */
export function letMeet(engine: WatchedEngine, count: number, ofKind: (asked: Asked) => boolean): void {
  let missing = count;
  const { promise: met, resolve: meet } = Promise.withResolvers<void>();
  engine.before = async (asked) => {
    if (missing === 0 || !ofKind(asked)) return;
    missing -= 1;
    if (missing === 0) meet();
    await met;
  };
}
