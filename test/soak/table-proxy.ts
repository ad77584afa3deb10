import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { forward, operationOf, startLoopbackServer } from '../loopback.ts';
import type { TableFault } from './plan.ts';
import { between, type Random } from './random.ts';

/** A request to the table that a fault disturbed: its time and its body. */
export type Disturbed = { at: number; body: string };

/** A proxy between the service and its table's engine, which causes faults. */
export type TableProxy = {
  endpoint: string;
  disturbed: Disturbed[];
  /** Sets the engine that requests go to; `undefined` while there is none. */
  leadTo: (endpoint: string | undefined) => void;
  cause: (fault: TableFault) => void;
  /** Drops the faults that have not happened yet. */
  relent: () => void;
  close: () => Promise<void>;
};

type Disturbance = Pick<TableFault, 'kind' | 'of'>;

const writes = ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems'];

const amazonJson = { 'Content-Type': 'application/x-amz-json-1.0' };

const throttling = JSON.stringify({
  __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException',
  message: 'The rate of requests exceeds the allowed throughput.',
});

/** Starts a proxy for the table's engine, by the endpoint that every deployment can set. */
export async function startTableProxy(random: Random): Promise<TableProxy> {
  let engine: string | undefined;
  let coming: Disturbance[] = [];
  const disturbed: Disturbed[] = [];

  const { url, close } = await startLoopbackServer((request, response) => {
    void pass(request, response).catch(() => response.destroy());
  });

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const kind = nextFor(request)?.kind;
    const note = () => disturbed.push({ at: Date.now(), body: body.toString('latin1') });
    if (kind) note();
    if (kind === 'request lost') return void response.destroy();
    if (kind === 'throttled') return void response.writeHead(400, amazonJson).end(throttling);
    if (kind === 'request delayed') await pause(between(random, 100, 3_000));
    try {
      if (!engine) throw new Error('There is no engine now.');
      const { status, text } = await forward(engine, request, body);
      if (kind === 'answer lost') return void response.destroy();
      response.writeHead(status, amazonJson).end(text);
    } catch {
      // The engine is gone, perhaps with the write done.
      note();
      response.destroy();
    }
  }

  function nextFor(request: IncomingMessage): Disturbance | undefined {
    const at = coming.findIndex(({ of }) => of === 'any' || writes.includes(operationOf(request)));
    return at < 0 ? undefined : coming.splice(at, 1)[0];
  }

  return {
    endpoint: url,
    disturbed,
    leadTo: (endpoint) => {
      engine = endpoint;
    },
    cause: ({ requests, kind, of }) => {
      coming.push(...Array.from({ length: requests }, () => ({ kind, of })));
    },
    relent: () => {
      coming = [];
    },
    close,
  };
}
