import { buffer } from 'node:stream/consumers';
import { tableSchema } from '../../../lib/names/table-schema.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { writeRetries } from '../../../lib/table/access/retry.ts';
import { operationOf, startLoopbackServer } from '../../servers/loopback.ts';
import { createTableProtocol, type TableAnswer, type TableRequest } from '../../table/fixtures/table-protocol.ts';

/**
 * The time for which a transaction of DynamoDB holds its items, in milliseconds. AWS publishes no figure. Seen from a
 * Lambda function in the same region, a transaction of 5 items takes 25.3 ms and a single put 7.6 (medians of 400,
 * github.com/alexdebrie/dynamodb-performance-testing): the difference is its two phases, in which the items are held.
 */
export const lockWindowMs = 18;

/**
 * The tries of each transaction since the last call. A transaction is identified by its first item, which is the item
 * that is written: after a conflict on a counter, the next try has another counter and another token.
 */
export type Contention = { attempts: number[] };

/** A server of a table on which transactions conflict. */
type ConflictingTable = { endpoint: string; take: () => Contention; stop: () => void };

/**
 * Serves a table that never has conflicts, and causes them as in DynamoDB: a transaction holds its items for a time, and
 * other writes to them get DynamoDB's response to a conflict meanwhile.
 *
 * @param window resolves when a transaction has held its items long enough; it gets the answer of the table
 */
export async function startConflictingTable(
  table: Table,
  window: (carriedOut: Promise<unknown>) => Promise<unknown>,
): Promise<ConflictingTable> {
  const answerTo = createTableProtocol(table);
  const locks = createItemLocks();
  const trying = new Map<string, number>();
  const attempts: number[] = [];
  const { url, close } = await startLoopbackServer(async (received, response) => {
    const request = { action: operationOf(received), json: (await buffer(received)).toString('utf8') };
    const { status, body } = await carryOut(request);
    response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
  });

  async function carryOut(request: TableRequest): Promise<TableAnswer> {
    const writes = writesOf(request);
    const taken = writes && locks.take(writes);
    if (writes?.token !== undefined) countTry(writes, taken && 'conflicts' in taken);
    if (taken && 'conflicts' in taken) return conflictAnswer(writes, taken.conflicts);
    const carriedOut = answerTo(request);
    const held = writes?.token === undefined ? carriedOut : window(carriedOut);
    // The items are free before the response is sent.
    const [answer] = await Promise.all([carriedOut, held.finally(taken?.release)]);
    return answer;
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

  return {
    endpoint: url,
    take() {
      const seen = { attempts: [...attempts, ...trying.values()] };
      attempts.length = 0;
      trying.clear();
      return seen;
    },
    stop: close,
  };
}

/** Returns DynamoDB's response to a conflict: for a transaction it has a reason for each of its items. */
function conflictAnswer({ token }: Writes, conflicts: boolean[]): TableAnswer {
  const message = 'Transaction is ongoing for the item';
  const error = (name: string, rest: object) => ({
    status: 400,
    body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, ...rest },
  });
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

/** A write in a request to DynamoDB: the fields that identify its item. */
type ItemWrite = { TableName: string; Key?: WireKey; Item?: WireKey };
type WireKey = Record<string, { S: string }>;
type Transaction = { TransactItems: Record<string, ItemWrite>[]; ClientRequestToken: string };

/** The items that a request writes, in its order, and the token that all tries of a transaction share. */
type Writes = { items: string[]; token?: string };

/** Returns the writes of a request to DynamoDB; `undefined` for a request that has no conflicts. */
function writesOf({ action, json }: TableRequest): Writes | undefined {
  if (/^(Put|Update|Delete)Item$/.test(action)) return { items: [nameOf(JSON.parse(json) as ItemWrite)] };
  if (action !== 'TransactWriteItems') return undefined;
  const { TransactItems, ClientRequestToken: token } = JSON.parse(json) as Transaction;
  // A ConditionCheck has conflicts as a write has.
  return { items: TransactItems.map((one) => nameOf(Object.values(one)[0] as ItemWrite)), token };
}

function nameOf({ TableName, Key, Item }: ItemWrite): string {
  const key = (Key ?? Item) as WireKey;
  return JSON.stringify([TableName, key[tableSchema.partitionKey]?.S, key[tableSchema.sortKey]?.S]);
}

/** The result of `take`: the items are held until `release`, or `conflicts` says which are held by others. */
type Taken = { release: () => void } | { conflicts: boolean[] };

/**
 * Creates the locks of items by DynamoDB's rules. A transaction, or a single write, conflicts with another transaction in
 * progress on one of its items, whatever either does with it. A single write holds no item, since others wait for it.
 * Neither does a transaction that is cancelled: DynamoDB guarantees nothing about its items until then.
 */
function createItemLocks() {
  const held = new Set<string>();
  return {
    take({ items, token }: Writes): Taken {
      const conflicts = items.map((item) => held.has(item));
      if (conflicts.includes(true)) return { conflicts };
      if (token === undefined) return { release: () => {} };
      for (const item of items) held.add(item);
      return {
        release: () => {
          for (const item of items) held.delete(item);
        },
      };
    },
  };
}
