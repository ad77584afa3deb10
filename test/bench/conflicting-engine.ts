import { Agent, createServer, type IncomingMessage, request as requestOver, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeRetries } from '../../lib/table/retry.ts';
import { openItemLocks, partitionOf, type Writes, writesOf } from './item-locks.ts';

/**
 * How long a transaction of DynamoDB's keeps others from its items, in milliseconds. AWS publishes no figure. Seen from
 * a Lambda function in the same region, a transaction of 5 items takes 25.3 ms and a single put 7.6 (medians of 400,
 * github.com/alexdebrie/dynamodb-performance-testing): what is more of it is its two phases, in which the items are held.
 */
export const lockWindowMs = 18;

/**
 * What the transactions since the last look came to: how often each was tried, and how many items were another's, by
 * their partition. The tries of one are told by its first item, which is the one that is written; where another was met
 * over a counter, the next try is of another counter and has another token.
 */
export type Contention = { attempts: number[]; conflicts: Record<string, number> };

/** A table's engine that has transactions conflict. */
export type ConflictingEngine = { endpoint: string; take: () => Contention; stop: () => void };

/**
 * Opens a way to an engine that never reports conflicts, on which they happen as in DynamoDB: a transaction holds its
 * items for a time, and what would write one of them meanwhile is refused with the answer that DynamoDB gives.
 *
 * @param window waits until a transaction has held its items long enough; it is told when the engine has carried it out
 */
export async function openConflictingEngine(
  engine: string,
  window: (carriedOut: Promise<unknown>) => Promise<unknown>,
): Promise<ConflictingEngine> {
  const locks = openItemLocks();
  const agent = new Agent({ keepAlive: true });
  const trying = new Map<string, number>();
  const attempts: number[] = [];
  const conflicts = new Map<string, number>();
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bytesOf(request);
    const action = String(request.headers['x-amz-target']).split('.')[1] as string;
    const writes = writesOf(action, body.toString('utf8'));
    const taken = writes && locks.take(writes);
    if (writes?.token !== undefined) countTry(writes, taken && 'conflicts' in taken);
    if (taken && 'conflicts' in taken) {
      countConflicts(writes, taken.conflicts);
      return send(response, 400, conflictAnswer(writes, taken.conflicts));
    }
    const forwarded = forward(request, body);
    const held = writes?.token === undefined ? forwarded : window(forwarded);
    // Whoever has the answer must find the items free.
    const [{ status, text }] = await Promise.all([forwarded, held.finally(taken?.release)]);
    send(response, status, text);
  }

  async function forward({ headers }: IncomingMessage, body: Buffer): Promise<{ status: number; text: Buffer }> {
    const { host: _, connection: __, ...rest } = headers;
    const answered = Promise.withResolvers<IncomingMessage>();
    requestOver(engine, { method: 'POST', agent, headers: rest }, answered.resolve)
      .on('error', answered.reject)
      .end(body);
    const message = await answered.promise;
    return { status: message.statusCode as number, text: await bytesOf(message) };
  }

  function countTry({ items: [first = ''] }: Writes, again: boolean | undefined): void {
    const tried = (trying.get(first) ?? 0) + 1;
    if (again && tried < writeRetries.tries) {
      trying.set(first, tried);
    } else {
      trying.delete(first);
      attempts.push(tried);
    }
  }

  function countConflicts({ items }: Writes, held: boolean[]): void {
    for (const [at, item] of items.entries())
      if (held[at]) conflicts.set(partitionOf(item), (conflicts.get(partitionOf(item)) ?? 0) + 1);
  }

  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const seen = { attempts: [...attempts, ...trying.values()], conflicts: Object.fromEntries(conflicts) };
      attempts.length = 0;
      trying.clear();
      conflicts.clear();
      return seen;
    },
    stop() {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(message as AsyncIterable<Buffer>));
}

function send(response: ServerResponse, status: number, body: Buffer | string): void {
  response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(body);
}

/** What DynamoDB says: of a transaction a reason for each of its items, of a single write the one there is. */
function conflictAnswer({ token }: Writes, conflicts: boolean[]): string {
  const message = 'Transaction is ongoing for the item';
  const error = (name: string, rest: object) =>
    JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, ...rest });
  if (token === undefined) return error('TransactionConflictException', { message });
  const CancellationReasons = conflicts.map((conflict) =>
    conflict ? { Code: 'TransactionConflict', Message: message } : { Code: 'None' },
  );
  const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
  return error('TransactionCanceledException', {
    Message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    CancellationReasons,
  });
}
