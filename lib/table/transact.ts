import { randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { ApiError } from '../contract/errors.ts';
import { noteChange } from '../request-context.ts';
import type { Table } from './client.ts';
import { mayHaveBeenCarriedOut } from './lost-answers.ts';
import { conflictRetries, retryWithJitter, writeRetries } from './retry.ts';
import { noteConflicts, noteNoConflict, placeCounters } from './shards.ts';
import { asUnavailable, isThrottling, OutcomeUnknown } from './unavailable.ts';
import type { Item, Write } from './write.ts';
import { hasMark, marked, newMark, unmarked } from './write-marks.ts';

/** The item is no longer what the decision was made on: read it again and decide again. */
export class Conflict extends Error {
  override name = 'Conflict';
  /** Whether an answer to this very write was lost, so that it may have been made before the item changed again. */
  answerLost = false;
}

/** Takes a lost race for an answer: for writes where whoever is too late has nothing more to do. */
export function ignoreConflict(error: unknown): undefined {
  if (!(error instanceof Conflict)) throw error;
}

/** The same request, known by its Idempotency-Key, was carried out meanwhile: its answer is the answer. */
export class AlreadyDone extends Error {
  override name = 'AlreadyDone';
}

/** DynamoDB takes no more items in one transaction. */
export const transactionLimit = 100;

/** Reasons that say nothing about the items themselves: the same transaction may succeed a moment later. */
const passing = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded', 'RequestLimitExceeded'];

/**
 * A transaction that did not happen: the meanings of its failed conditions, or none where only its moment was bad; and
 * then whose items another transaction held.
 */
type Failure = { meanings: Error[]; held?: readonly Write[] };

/**
 * What stays the same over all tries of a write: the token by which DynamoDB knows a transaction again, and the mark by
 * which a single write is known again; and whether a try may have been carried out without an answer.
 */
type Sending = { token: string; mark: string; answerLost: boolean };

/** What a try came to: done, perhaps with the item that a single update asked for, or a failure. */
type Tried = { item: Item | undefined } | Failure;

/** What failed conditions lead to, if several do: a finished twin, then a fresh decision, then the refusal that is checked first. */
function rank(meaning: Error): number {
  if (meaning instanceof AlreadyDone) return 0;
  if (meaning instanceof Conflict) return 1;
  const order = [404, 412, 422, 403, 409, 429];
  return meaning instanceof ApiError ? 2 + order.indexOf(meaning.status) : 99;
}

/** One error for several: the first in rank, with the details of all refusals of its code. */
export function merged(meanings: Error[]): Error {
  const [first] = meanings.sort((a, b) => rank(a) - rank(b));
  if (!(first instanceof ApiError)) return first as Error;
  const alike = meanings.filter((other): other is ApiError => other instanceof ApiError && other.code === first.code);
  return new ApiError(
    first.code,
    first.message,
    alike.flatMap((refusal) => [...refusal.details]),
    first.headers,
  );
}

function meaningOf(write: Write, found: Item | undefined): Error {
  if (write.onConditionFailed) return write.onConditionFailed(found);
  // The expression only: values are callers' texts, and this error goes to the log.
  const [[kind, { ConditionExpression }]] = Object.entries(write) as [[string, { ConditionExpression?: string }]];
  return new Error(`A condition failed that has no meaning: ${kind} IF ${ConditionExpression}`);
}

/**
 * Carries out writes, all or none: one by a single command, more by a transaction. This is the only place that
 * retries what DynamoDB cancels for a conflict or for throttling, up to 8 times with full jitter (the SDK retries none
 * of these): the same items under the same token, but where another transaction was met over a counter, which is then
 * looked for in another shard, and is another transaction to DynamoDB.
 *
 * A write takes effect once, also where an answer is lost and the SDK sends it again: DynamoDB knows a transaction by
 * its token, and a single put or update is known by the mark that it leaves on the item
 * (docs/decisions/04-one-function-writes.md).
 *
 * @returns the item, where a single update asks for it by `ReturnValues`
 * @throws what a failed condition means (`otherwise`); `ApiError` `unavailable` when conflicts, throttling or an outage
 *   last; `OutcomeUnknown` where the write may have been made all the same.
 */
export async function transact(table: Table, writes: readonly Write[]): Promise<Item | undefined> {
  if (writes.length > transactionLimit) throw new Error(`A transaction of ${writes.length} items cannot be written.`);
  let placed = placeCounters(table.shards, writes);
  const sending: Sending = { token: randomUUID(), mark: newMark(), answerLost: false };
  const attempt = async () => {
    const tried =
      placed.length === 1 ? await single(table, placed[0] as Write, sending) : await many(table, placed, sending);
    if ('item' in tried) {
      noteChange();
      noteNoConflict(table.shards, placed);
      return { result: tried.item };
    }
    if (tried.meanings.length > 0) throw merged(tried.meanings);
    // Under another token it would be another transaction, which must not follow one that may have been carried out.
    if (noteConflicts(table.shards, tried.held ?? []) && !sending.answerLost) {
      placed = placeCounters(table.shards, writes);
      sending.token = randomUUID();
    }
    return undefined;
  };
  return retryWithJitter(table, attempt, writeRetries);
}

/**
 * Runs a decision again for as long as what it was made on has changed meanwhile. Where the answer to an earlier
 * write was lost, and the item has changed again since, a refusal would deny a change that may have been made.
 *
 * @throws `ApiError` `unavailable` when the item changes faster than decisions can be made on it; `OutcomeUnknown`
 */
export async function retryOnConflict<Result>(table: Table, decide: () => Promise<Result>): Promise<Result> {
  let answerLost = false;
  const attempt = async () => {
    try {
      return { result: await decide() };
    } catch (error) {
      if (!(error instanceof Conflict))
        throw answerLost && error instanceof ApiError ? new OutcomeUnknown(error) : error;
      answerLost ||= error.answerLost;
      return undefined;
    }
  };
  return retryWithJitter(table, attempt, conflictRetries);
}

async function single(table: Table, write: Write, sending: Sending): Promise<Tried> {
  const common = { TableName: table.name, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  try {
    const { Attributes } = await sendSingle(table, marked(write, sending.mark), common);
    return { item: Attributes && unmarked(Attributes) };
  } catch (error) {
    noteIfLost(sending, error);
    if (error instanceof ConditionalCheckFailedException)
      return conditionFailed(write, error.Item && unmarshall(error.Item), sending);
    if (error instanceof TransactionConflictException || isThrottling(error)) return { meanings: [] };
    throw asUnavailable(error);
  }
}

/** Notes that a try may have been carried out. */
function noteIfLost(sending: Sending, error: unknown): void {
  if (!mayHaveBeenCarriedOut(error)) return;
  sending.answerLost = true;
  noteChange();
}

/** What a failed condition of a single write is: its own earlier try, or a failure with a meaning. */
function conditionFailed(write: Write, found: Item | undefined, { mark, answerLost }: Sending): Tried {
  if (found && hasMark(found, mark)) return { item: unmarked(found) };
  // What was to be deleted is gone.
  if (answerLost && 'Delete' in write && !found) return { item: undefined };
  const meaning = meaningOf(write, found && unmarked(found));
  if (!answerLost) return { meanings: [meaning] };
  // Another write may have hidden the mark: a refusal would deny a change that may have been made.
  if (meaning instanceof ApiError) throw new OutcomeUnknown(meaning);
  if (meaning instanceof Conflict) meaning.answerLost = true;
  return { meanings: [meaning] };
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

async function many(table: Table, writes: readonly Write[], sending: Sending): Promise<Tried> {
  const common = { TableName: table.name, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  const items = writes.map(({ onConditionFailed: _, keyIn: __, ...write }) => {
    const [[kind, spec]] = Object.entries(write) as [[string, object]];
    return { [kind]: { ...spec, ...common } };
  });
  try {
    const { token: ClientRequestToken } = sending;
    await table.client.send(new TransactWriteCommand({ TransactItems: items as never, ClientRequestToken }));
    return { item: undefined };
  } catch (error) {
    noteIfLost(sending, error);
    if (error instanceof TransactionInProgressException) {
      // An earlier try is still being carried out.
      sending.answerLost = true;
      noteChange();
      return { meanings: [] };
    }
    if (isThrottling(error)) return { meanings: [] };
    if (!(error instanceof TransactionCanceledException)) throw asUnavailable(error);
    const reasons = error.CancellationReasons ?? [];
    const meanings = reasons.flatMap((reason, at) =>
      reason.Code === 'ConditionalCheckFailed'
        ? [meaningOf(writes[at] as Write, reason.Item && unmarked(unmarshall(reason.Item)))]
        : [],
    );
    if (meanings.length > 0) return { meanings };
    const unknown = reasons.find((reason) => reason.Code !== 'None' && !passing.includes(reason.Code ?? ''));
    if (unknown || reasons.length === 0) throw error;
    return { meanings: [], held: writes.filter((_, at) => reasons[at]?.Code === 'TransactionConflict') };
  }
}
