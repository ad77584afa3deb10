import type { DeleteCommandInput, PutCommandInput, UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Key } from './keys.ts';

/** An item as the document client reads it. */
export type Item = Record<string, unknown>;

/**
 * What a failed condition means, told by the item that was found (`undefined`: there is none): a refusal to the
 * caller, or `Conflict`, or `AlreadyDone`.
 */
export type OnConditionFailed = (found: Item | undefined) => Error;

type Spec<Input> = Omit<Input, 'TableName' | 'ReturnValuesOnConditionCheckFailure'>;

/**
 * One write of a transaction, and what its failed condition means. An update that is sent alone without `otherwise`
 * must be one that may be carried out twice.
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
  /** For what only adds to a counter: where it may be added instead, see `shards.ts`. */
  keyIn?: (shard: number) => Key;
};
