import { randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  type DeleteCommandInput,
  PutCommand,
  type PutCommandInput,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { Refusal } from '../contract/refusals.ts';
import type { Table } from './client.ts';
import type { Key } from './keys.ts';

/** An item as the document client reads it. */
export type Item = Record<string, unknown>;

/**
 * What a failed condition means, told by the item that was found (`undefined`: there is none): a refusal to the
 * caller, or `Stale`, or `AlreadyDone`.
 */
export type Otherwise = (found: Item | undefined) => Error;

type Spec<Input> = Omit<Input, 'TableName' | 'ReturnValuesOnConditionCheckFailure'>;

/** One write of a transaction, and what its failed condition means. */
export type Write = (
  | { Put: Spec<PutCommandInput> }
  | { Update: Spec<UpdateCommandInput> }
  | { Delete: Spec<DeleteCommandInput> }
  | {
      ConditionCheck: Pick<UpdateCommandInput, 'Key' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'> & {
        ConditionExpression: string;
      };
    }
) & {
  otherwise?: Otherwise;
  /** For what only adds to a counter: where it may be added instead, see `lanes.ts`. */
  keyIn?: (lane: number) => Key;
};

/** The item is no longer what the decision was made on: read it again and decide again. */
export class Stale extends Error {
  override name = 'Stale';
}

/** Takes a lost race for an answer: for writes where whoever is too late has nothing more to do. */
export function ignoreStale(error: unknown): undefined {
  if (!(error instanceof Stale)) throw error;
}

/** The same request, known by its Idempotency-Key, was carried out meanwhile: its answer is the answer. */
export class AlreadyDone extends Error {
  override name = 'AlreadyDone';
}

/** DynamoDB takes no more items in one transaction. */
export const transactionLimit = 100;

/** So often a transaction is tried before it is given up as `unavailable`. */
export const tries = 8;
const firstPauseMs = 25;

/** Reasons that say nothing about the items themselves: the same transaction may succeed a moment later. */
const passing = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded', 'RequestLimitExceeded'];

/**
 * A transaction that did not happen: the meanings of its failed conditions, or none where only its moment was bad; and
 * then whose items another transaction held.
 */
type Failure = { meanings: Error[]; held?: readonly Write[] };

/** What a try came to: done, perhaps with the item that a single update asked for, or a failure. */
type Tried = { item: Item | undefined } | Failure;

/** What failed conditions lead to, if several do: a finished twin, then a fresh decision, then the refusal that is checked first. */
function rank(meaning: Error): number {
  if (meaning instanceof AlreadyDone) return 0;
  if (meaning instanceof Stale) return 1;
  const order = [404, 412, 422, 403, 409, 429];
  return meaning instanceof Refusal ? 2 + order.indexOf(meaning.status) : 99;
}

/** One error for several: the first in rank, with the details of all refusals of its code. */
export function merged(meanings: Error[]): Error {
  const [first] = meanings.sort((a, b) => rank(a) - rank(b));
  if (!(first instanceof Refusal)) return first as Error;
  const alike = meanings.filter((other): other is Refusal => other instanceof Refusal && other.code === first.code);
  return new Refusal(
    first.code,
    first.message,
    alike.flatMap((refusal) => [...refusal.details]),
    first.headers,
  );
}

function meaningOf(write: Write, found: Item | undefined): Error {
  if (write.otherwise) return write.otherwise(found);
  // The expression only: values are callers' texts, and this error goes to the log.
  const [[kind, { ConditionExpression }]] = Object.entries(write) as [[string, { ConditionExpression?: string }]];
  return new Error(`A condition failed that has no meaning: ${kind} IF ${ConditionExpression}`);
}

/**
 * Carries out writes, all or none: one by a single command, more by a transaction. This is the only place that
 * retries what DynamoDB cancels for a conflict or for throttling, up to 8 times with full jitter (the SDK retries none
 * of these): the same items under the same token, but where another transaction was met over a counter, which is then
 * looked for in another lane, and is another transaction to DynamoDB.
 *
 * @returns the item, where a single update asks for it by `ReturnValues`
 * @throws what a failed condition means (`otherwise`); `Refusal` `unavailable` when conflicts or throttling last.
 */
export async function transact(table: Table, writes: readonly Write[]): Promise<Item | undefined> {
  if (writes.length > transactionLimit) throw new Error(`A transaction of ${writes.length} items cannot be written.`);
  let placed = table.lanes.place(writes);
  let token = randomUUID();
  for (let attempt = 0; ; attempt++) {
    const tried = placed.length === 1 ? await single(table, placed[0] as Write) : await many(table, placed, token);
    if ('item' in tried) {
      table.lanes.passed(placed);
      return tried.item;
    }
    if (tried.meanings.length > 0) throw merged(tried.meanings);
    if (attempt + 1 === tries) throw unavailable();
    if (table.lanes.spread(tried.held ?? [])) {
      placed = table.lanes.place(writes);
      token = randomUUID();
    }
    await table.sleep(Math.random() * firstPauseMs * 2 ** attempt);
  }
}

/** The refusal of a service that cannot write now, though nothing is wrong with the request. */
export function unavailable(): Refusal {
  return new Refusal('unavailable', 'The service is busy; nothing was changed. Try again shortly.', [], {
    'Retry-After': '1',
  });
}

/**
 * Runs a decision again for as long as what it was made on has changed meanwhile.
 *
 * @throws `Refusal` `unavailable` when the item changes faster than decisions can be made on it.
 */
export async function untilFresh<Result>(table: Table, decide: () => Promise<Result>): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await decide();
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
      if (attempt === 20) throw unavailable();
      await table.sleep(Math.random() * firstPauseMs * 2 ** Math.min(attempt, 6));
    }
  }
}

async function single(table: Table, write: Write): Promise<Tried> {
  const common = { TableName: table.name, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  try {
    return { item: (await sendSingle(table, write, common)).Attributes };
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException)
      return { meanings: [meaningOf(write, error.Item && unmarshall(error.Item))] };
    if (error instanceof TransactionConflictException || isThrottling(error)) return { meanings: [] };
    throw error;
  }
}

function sendSingle(
  table: Table,
  write: Write,
  common: { TableName: string },
): Promise<{ Attributes?: Item | undefined }> {
  if ('Put' in write) return table.client.send(new PutCommand({ ...write.Put, ...common }));
  if ('Update' in write) return table.client.send(new UpdateCommand({ ...write.Update, ...common }));
  if ('Delete' in write) return table.client.send(new DeleteCommand({ ...write.Delete, ...common }));
  throw new Error('A condition check alone writes nothing.');
}

async function many(table: Table, writes: readonly Write[], token: string): Promise<Tried> {
  const common = { TableName: table.name, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  const items = writes.map(({ otherwise: _, keyIn: __, ...write }) => {
    const [[kind, spec]] = Object.entries(write) as [[string, object]];
    return { [kind]: { ...spec, ...common } };
  });
  try {
    await table.client.send(new TransactWriteCommand({ TransactItems: items as never, ClientRequestToken: token }));
    return { item: undefined };
  } catch (error) {
    if (error instanceof TransactionInProgressException || isThrottling(error)) return { meanings: [] };
    if (!(error instanceof TransactionCanceledException)) throw error;
    const reasons = error.CancellationReasons ?? [];
    const meanings = reasons.flatMap((reason, at) =>
      reason.Code === 'ConditionalCheckFailed'
        ? [meaningOf(writes[at] as Write, reason.Item && unmarshall(reason.Item))]
        : [],
    );
    if (meanings.length > 0) return { meanings };
    const unknown = reasons.find((reason) => reason.Code !== 'None' && !passing.includes(reason.Code ?? ''));
    if (unknown || reasons.length === 0) throw error;
    return { meanings: [], held: writes.filter((_, at) => reasons[at]?.Code === 'TransactionConflict') };
  }
}

/** Whether DynamoDB refused for its load, after the SDK's own tries. */
export function isThrottling(error: unknown): boolean {
  const names = ['ThrottlingException', 'ProvisionedThroughputExceededException', 'RequestLimitExceeded'];
  return error instanceof Error && names.includes(error.name);
}
