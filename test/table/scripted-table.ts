import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Table } from '../../lib/table/client.ts';
import { openLanes } from '../../lib/table/lanes.ts';
import type { Item } from '../../lib/table/write.ts';

/** A command as it was sent. */
export type Command = { input: Record<string, unknown> };

/** What is answered to the nth request, counted from 0: an error is thrown. */
export type Script = (nth: number, command: Command) => unknown;

/** A table that answers from a script, for what no local engine does. It does not wait, but notes how long it would. */
export function scriptedTable(script: Script) {
  const sent: Command[] = [];
  const pauses: number[] = [];
  const client = {
    send: async (command: Command) => {
      const answer = script(sent.push(command) - 1, command);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const table: Table = {
    name: 'scripted',
    client: client as unknown as DynamoDBDocumentClient,
    sleep: async (milliseconds) => {
      pauses.push(milliseconds);
    },
    lanes: openLanes(),
  };
  return { table, sent, pauses };
}

const $metadata = {};

/** The cancellation of a transaction, a reason for each of its items. */
export function cancelled(...reasons: (string | { failed: Item })[]): TransactionCanceledException {
  const CancellationReasons = reasons.map((reason) =>
    typeof reason === 'string' ? { Code: reason } : { Code: 'ConditionalCheckFailed', Item: marshall(reason.failed) },
  );
  return new TransactionCanceledException({ message: 'Cancelled.', $metadata, CancellationReasons });
}

/** The failed condition of a single write, and the item that it found. */
export const conditionFailed = (found?: Item) =>
  new ConditionalCheckFailedException({ message: 'Failed.', $metadata, ...(found && { Item: marshall(found) }) });

/** The conflict of a single write with a transaction. */
export const conflict = () => new TransactionConflictException({ message: 'Conflict.', $metadata });

/** The same transaction, sent before, is not through yet. */
export const inProgress = () =>
  new TransactionInProgressException({ message: 'In progress.', Message: 'In progress.', $metadata });

/** An error of DynamoDB that is known by its name. */
export const named = (name: string) => Object.assign(new Error(name), { name });
