import { randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { ApiError } from '../../contract/errors.ts';
import type { Table } from './client.ts';
import { noteChange } from './current-request.ts';
import { mayBeProcessed } from './lost-responses.ts';
import { conflictRetries, retryWithJitter, writeRetries } from './retry.ts';
import { noteConflicts, noteNoConflict, placeCounters } from './shards.ts';
import { asUnavailable, isThrottling, OutcomeUnknown } from './unavailable.ts';
import type { Item, Write } from './write.ts';
import { hasMark, marked, newMark, unmarked } from './write-marks.ts';

/** The item has changed since it was read. The caller reads it again and repeats its decision (`retryOnConflict`). */
export class Conflict extends Error {
  override name = 'Conflict';
  /**
   * Whether the response to an earlier try was lost. That try may have made the write before another writer changed the
   * item.
   */
  responseLost = false;
}

/**
 * Returns `undefined` for a `Conflict`, and throws any other error. For writes that are not needed if another writer
 * was first.
 */
export function ignoreConflict(error: unknown): undefined {
  if (!(error instanceof Conflict)) throw error;
}

/** A duplicate request with the same Idempotency-Key was processed at the same time. Use its recorded response. */
export class AlreadyDone extends Error {
  override name = 'AlreadyDone';
}

/** The maximum number of items in a DynamoDB transaction. */
export const transactionLimit = 100;

/** Transient cancellation reasons: the same transaction may succeed a moment later. */
const transientReasons = [
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
];

/** The state of a write over all its tries. */
type Tries = {
  /** DynamoDB recognizes a repeated transaction by it. */
  token: string;
  /** `transact` recognizes a repeated single write by it: a mark that the write leaves on the item. */
  mark: string;
  /** Whether an earlier try may have been processed without a response. */
  responseLost: boolean;
};

/**
 * The outcome of a try: the item that a single update returns, or a failure. A failure has the errors of all failed
 * conditions. If it has none, `transact` retries the write; `conflicting` has the writes that conflicted with another
 * transaction.
 */
type Outcome = { item: Item | undefined } | { errors: Error[]; conflicting?: readonly Write[] };

/**
 * Returns the rank of an error. Of several errors the one with the lowest rank is thrown: first a duplicate request,
 * then a conflict, then the failed checks in their order.
 */
function precedence(error: Error): number {
  if (error instanceof AlreadyDone) return 0;
  if (error instanceof Conflict) return 1;
  const order = [404, 412, 422, 403, 409, 429];
  return error instanceof ApiError ? 2 + order.indexOf(error.status) : 99;
}

/** Returns one error for several: the first by precedence, with the details of all errors that have its code. */
export function merged(errors: Error[]): Error {
  const [first] = errors.sort((a, b) => precedence(a) - precedence(b));
  if (!(first instanceof ApiError)) return first as Error;
  const alike = errors.filter((other): other is ApiError => other instanceof ApiError && other.code === first.code);
  return new ApiError(
    first.code,
    first.message,
    alike.flatMap(({ details }) => [...details]),
    first.headers,
  );
}

function conditionError(write: Write, found: Item | undefined): Error {
  if (write.onConditionFailed) return write.onConditionFailed(found);
  // Without the values: they can contain text from callers, and this error is logged.
  const [[kind, { ConditionExpression }]] = Object.entries(write) as [[string, { ConditionExpression?: string }]];
  return new Error(`Unexpected failed condition: ${kind} IF ${ConditionExpression}`);
}

/**
 * Applies all of the writes or none: one write by a single command, several by a transaction. Conflicts with other
 * transactions and throttling are retried here, because the SDK does not retry them. Each try sends the same items with
 * the same token, except after a conflict on a counter: the counter is then written in another shard, which needs a new
 * transaction with a new token.
 *
 * A write takes effect once, even if a response is lost and the SDK sends the request again: DynamoDB recognizes a
 * transaction by its token, and a single put or update is recognized by the mark that it leaves on the item
 * (docs/decisions/04-one-function-writes.md).
 *
 * @returns the item, if a single update requests it with `ReturnValues`
 * @throws the error of a failed condition (`onConditionFailed`); `ApiError` `unavailable` if the last try fails because
 *   of conflicts, throttling or an outage; `OutcomeUnknown` if it is not known whether the write was made
 */
export async function transact(table: Table, writes: readonly Write[]): Promise<Item | undefined> {
  if (writes.length > transactionLimit)
    throw new Error(`A transaction has at most ${transactionLimit} items, not ${writes.length}.`);
  await table.beforeWrite?.();
  let placed = placeCounters(table.shards, writes);
  const tries: Tries = { token: randomUUID(), mark: newMark(), responseLost: false };
  const attempt = async () => {
    const outcome =
      placed.length === 1
        ? await tryWrite(table, placed[0] as Write, tries)
        : await tryTransaction(table, placed, tries);
    if ('item' in outcome) {
      noteChange();
      noteNoConflict(table.shards, placed);
      return { result: outcome.item };
    }
    if (outcome.errors.length > 0) throw merged(outcome.errors);
    // Keep the token if an earlier try may have been processed: with a new one DynamoDB would write a second time.
    if (noteConflicts(table.shards, outcome.conflicting ?? []) && !tries.responseLost) {
      placed = placeCounters(table.shards, writes);
      tries.token = randomUUID();
    }
    return undefined;
  };
  return retryWithJitter(table, attempt, writeRetries);
}

/** Makes writes that are not needed if another writer was first (`Conflict`). Returns whether they were made. */
export async function transactIfFirst(table: Table, writes: readonly Write[]): Promise<boolean> {
  const made = transact(table, writes).then(() => true);
  return (await made.catch(ignoreConflict)) ?? false;
}

/**
 * Runs a function that reads, decides and writes. Runs it again after each `Conflict`.
 *
 * @throws `ApiError` `unavailable` after the last conflict; `OutcomeUnknown` instead of an `ApiError` if the response
 *   to an earlier write was lost: that write may have been made, and an `ApiError` would say that it was not
 */
export async function retryOnConflict<Result>(table: Table, decide: () => Promise<Result>): Promise<Result> {
  let responseLost = false;
  const attempt = async () => {
    try {
      return { result: await decide() };
    } catch (error) {
      if (!(error instanceof Conflict))
        throw responseLost && error instanceof ApiError ? new OutcomeUnknown(error) : error;
      responseLost ||= error.responseLost;
      return undefined;
    }
  };
  return retryWithJitter(table, attempt, conflictRetries);
}

async function tryWrite(table: Table, write: Write, tries: Tries): Promise<Outcome> {
  const common = { TableName: table.name, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  try {
    const { Attributes } = await sendSingle(table, marked(write, tries.mark), common);
    return { item: Attributes && unmarked(Attributes) };
  } catch (error) {
    noteIfLost(tries, error);
    if (error instanceof ConditionalCheckFailedException)
      return conditionFailed(write, error.Item && unmarshall(error.Item), tries);
    if (error instanceof TransactionConflictException || isThrottling(error)) return { errors: [] };
    throw asUnavailable(error);
  }
}

/** Notes whether a failed try may have been processed. */
function noteIfLost(tries: Tries, error: unknown): void {
  if (!mayBeProcessed(error)) return;
  tries.responseLost = true;
  noteChange();
}

/** Returns the outcome of a single write whose condition failed. The cause may be an earlier try of the same write. */
function conditionFailed(write: Write, found: Item | undefined, { mark, responseLost }: Tries): Outcome {
  if (found && hasMark(found, mark)) return { item: unmarked(found) };
  // An earlier try or another writer has deleted the item.
  if (responseLost && 'Delete' in write && !found) return { item: undefined };
  const failure = conditionError(write, found && unmarked(found));
  if (!responseLost) return { errors: [failure] };
  // A later write may have replaced the mark. Then the change was made, and an `ApiError` would say that it was not.
  if (failure instanceof ApiError) throw new OutcomeUnknown(failure);
  if (failure instanceof Conflict) failure.responseLost = true;
  return { errors: [failure] };
}

function sendSingle(
  table: Table,
  write: Write,
  common: { TableName: string },
): Promise<{ Attributes?: Item | undefined }> {
  if ('Put' in write) return table.client.send(new PutCommand({ ...write.Put, ...common }));
  if ('Update' in write) return table.client.send(new UpdateCommand({ ...write.Update, ...common }));
  if ('Delete' in write) return table.client.send(new DeleteCommand({ ...write.Delete, ...common }));
  throw new Error('A condition check needs a write in the same transaction.');
}

async function tryTransaction(table: Table, writes: readonly Write[], tries: Tries): Promise<Outcome> {
  const common = { TableName: table.name, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  const items = writes.map(({ onConditionFailed, keyIn, ...write }) => {
    const [[kind, spec]] = Object.entries(write) as [[string, object]];
    return { [kind]: { ...spec, ...common } };
  });
  try {
    const { token: ClientRequestToken } = tries;
    await table.client.send(new TransactWriteCommand({ TransactItems: items as never, ClientRequestToken }));
    return { item: undefined };
  } catch (error) {
    noteIfLost(tries, error);
    if (error instanceof TransactionInProgressException) {
      // DynamoDB is still processing an earlier try.
      tries.responseLost = true;
      noteChange();
      return { errors: [] };
    }
    if (isThrottling(error)) return { errors: [] };
    if (!(error instanceof TransactionCanceledException)) throw asUnavailable(error);
    const reasons = error.CancellationReasons ?? [];
    const errors = reasons.flatMap((reason, at) =>
      reason.Code === 'ConditionalCheckFailed'
        ? [conditionError(writes[at] as Write, reason.Item && unmarked(unmarshall(reason.Item)))]
        : [],
    );
    if (errors.length > 0) return { errors };
    const unknown = reasons.find((reason) => reason.Code !== 'None' && !transientReasons.includes(reason.Code ?? ''));
    if (unknown || reasons.length === 0) throw error;
    return { errors: [], conflicting: writes.filter((_, at) => reasons[at]?.Code === 'TransactionConflict') };
  }
}
