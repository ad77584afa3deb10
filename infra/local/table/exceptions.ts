import {
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  InternalServerError,
  ResourceNotFoundException,
  type CancellationReason as SdkReason,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { noteLostResponse } from '../../../lib/table/access/lost-responses.ts';
import { type CancellationReason, Invalid, type StoredItem, type TableFailure } from './errors.ts';
import { decodeItem } from './values/encoding.ts';
import { marshalledItem } from './values/native.ts';
import { WriterEnded } from './writes/write-queue.ts';
import { CommitFailed, diskFull } from './writes/writer.ts';

const rejected = { httpStatusCode: 400 };
const failedMetadata = { httpStatusCode: 500 };

/** Returns the SDK's exception for a failure of a write. */
export function exceptionOf({ name, message, item, reasons }: TableFailure): Error {
  switch (name) {
    case 'ConditionalCheckFailedException':
      return new ConditionalCheckFailedException({
        message,
        $metadata: rejected,
        ...(item && { Item: marshalled(item) }),
      });
    case 'TransactionCanceledException':
      return new TransactionCanceledException({
        message,
        $metadata: rejected,
        CancellationReasons: (reasons ?? []).map(sdkReason),
      });
    case 'ValidationException':
      return invalidRequest(message);
  }
  return Object.assign(new Error(message), { name });
}

const marshalled = (item: StoredItem) => marshalledItem(decodeItem(item));

function sdkReason({ code, message, item }: CancellationReason): SdkReason {
  return {
    Code: code,
    ...(message !== undefined && { Message: message }),
    ...(item && { Item: marshalled(item) }),
  };
}

const invalidRequest = (message: string) =>
  new DynamoDBServiceException({ name: 'ValidationException', message, $fault: 'client', $metadata: rejected });

/** Returns the exception for a request to another table. */
export const unknownTable = () =>
  new ResourceNotFoundException({
    message: 'Cannot do operations on a non-existent table',
    $metadata: rejected,
  });

/**
 * Returns the exception that a caller gets for an error of the table: the SDK's for a request that DynamoDB rejects, and one
 * with the status 500 if the database fails. It notes whether a failed write may have been made.
 */
export function asException(error: unknown): unknown {
  if (error instanceof Invalid) return invalidRequest(error.message);
  const isOfDatabase = (error as { errcode?: number }).errcode !== undefined;
  if (!(error instanceof CommitFailed || error instanceof WriterEnded || isOfDatabase)) return error;
  const { message } = error as Error;
  const failed =
    error instanceof CommitFailed && error.code === diskFull
      ? new DynamoDBServiceException({
          name: 'DiskFull',
          message: `The disk of the data folder is full; nothing was changed. (${message})`,
          $fault: 'server',
          $metadata: failedMetadata,
        })
      : new InternalServerError({ message, $metadata: failedMetadata });
  failed.cause = error;
  const mayBeMade = error instanceof WriterEnded || (error instanceof CommitFailed && !error.isRolledBack);
  if (mayBeMade) noteLostResponse(failed);
  return failed;
}
