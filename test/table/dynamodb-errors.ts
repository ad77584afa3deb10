import {
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Item } from '../../lib/table/write.ts';

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

/** The same transaction, sent before, is still in progress. */
export const inProgress = () =>
  new TransactionInProgressException({ message: 'In progress.', Message: 'In progress.', $metadata });

/** An error of DynamoDB that callers know by its name. */
export const dynamodbError = (name: string) =>
  new DynamoDBServiceException({ name, message: name, $fault: 'client', $metadata });
