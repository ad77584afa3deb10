import type { DeleteCommandInput, PutCommandInput, UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Key } from './keys.ts';

/** An item as the document client reads it. */
export type Item = Record<string, unknown>;

/**
 * Returns the error that a failed condition means: an `ApiError`, `Conflict` or `AlreadyDone`.
 *
 * @param found the stored item; `undefined` if there is none
 */
export type OnConditionFailed = (found: Item | undefined) => Error;

type Spec<Input> = Omit<Input, 'TableName' | 'ReturnValuesOnConditionCheckFailure'>;

/**
 * A write of a transaction, or a single write. A single update without `onConditionFailed` must have the same result if
 * it is applied twice: it gets no mark that would prevent that (`write-marks.ts`).
 */
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
  onConditionFailed?: OnConditionFailed;
  /** Returns the key of the counter in another shard, for an update that only adds to a counter; see `shards.ts`. */
  keyIn?: (shard: number) => Key;
};
