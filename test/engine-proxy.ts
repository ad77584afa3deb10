import { buffer } from 'node:stream/consumers';
import { afterAll } from 'vitest';
import { forward, operationOf, startLoopbackServer } from './loopback.ts';

/** A request to the engine: its action, such as `PutItem`, and its body. */
export type EngineRequest = { action: string; json: string };

/** A proxy to the table's engine, on which tests delay requests and lose responses. */
export type EngineProxy = {
  endpoint: string;
  /** Called with each request. The request is carried out when the result resolves. */
  before: (request: EngineRequest) => unknown;
  /** Called with each request after it was carried out. The response is sent when the result resolves, unless it is lost. */
  after: (request: EngineRequest) => unknown;
  /** Passes on all later requests and responses at once. */
  reset: () => void;
};

/** The result of `after` that closes the connection without a response. */
const responseIsLost = Symbol('response is lost');

/** Returns whether a request writes. */
export const writes = ({ action }: EngineRequest): boolean =>
  /^(Put|Update|Delete)Item$|^TransactWrite|^BatchWrite/.test(action);

/**
 * Loses the responses to writes.
 *
 * @param nth the first of these writes, counted from 0
 * @param count the number of lost responses
 * @returns the writes whose responses were lost so far
 */
export function loseResponses(engine: EngineProxy, { nth = 0, count = 1 } = {}): EngineRequest[] {
  const lost: EngineRequest[] = [];
  let made = 0;
  engine.after = (request) => {
    if (!writes(request) || made++ < nth || lost.length === count) return undefined;
    lost.push(request);
    return responseIsLost;
  };
  return lost;
}

/** Returns whether a request writes an idempotency record. */
export const recordsKey = ({ action, json }: EngineRequest): boolean =>
  /Put|Transact/.test(action) && json.includes('"fingerprint"');

/** Returns whether a request changes or deletes a task, an agent or a webhook, on condition of the version that was read. */
export const changesVersion = ({ action, json }: EngineRequest): boolean =>
  /^(Put|Update|Delete)Item|^TransactWrite/.test(action) && json.includes('#version = :version');

/**
 * Starts a proxy to the engine. Deployed functions can use it as their endpoint, with their own clients.
 */
export async function startEngineProxy(engine: string): Promise<EngineProxy> {
  const { url: endpoint, close } = await startLoopbackServer(async (request, response) => {
    const body = await buffer(request);
    const sent = { action: operationOf(request), json: body.toString('utf8') };
    await proxy.before(sent);
    const { status, text } = await forward(engine, request, body);
    if ((await proxy.after(sent)) === responseIsLost) return void response.destroy();
    response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(text);
  });
  afterAll(close);
  const reset = () => {
    proxy.before = () => {};
    proxy.after = () => {};
  };
  const proxy: EngineProxy = { endpoint, before: () => {}, after: () => {}, reset };
  return proxy;
}

/** Delays requests of a kind until `count` of them have arrived, then carries out all. Later requests are not delayed. */
export function runTogether(engine: EngineProxy, count: number, ofKind: (request: EngineRequest) => boolean): void {
  let missing = count;
  const { promise: complete, resolve } = Promise.withResolvers<void>();
  engine.before = async (request) => {
    if (missing === 0 || !ofKind(request)) return;
    missing -= 1;
    if (missing === 0) resolve();
    await complete;
  };
}
