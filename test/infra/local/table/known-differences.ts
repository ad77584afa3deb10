import { isDeepStrictEqual } from 'node:util';
import type { QueryCommandInput, UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../../../lib/table/access/write.ts';

/** The result of a command in a form that can be compared. */
export type Outcome = Record<string, unknown>;

/** A command that was carried out by the table of the local service and by another engine. */
type Compared = { input: object; ours: Outcome; theirs: Outcome };

/** A difference that is known, with its reason. The engines have the same items after it. */
type KnownDifference = { reason: string; isOf: (compared: Compared) => boolean };

const isInvalid = ({ error, reasons = [] }: Outcome) =>
  error === 'ValidationException' || (reasons as { Code: string }[]).some(({ Code }) => Code === 'ValidationError');

type Read = Pick<QueryCommandInput, 'IndexName' | 'Limit' | 'ExclusiveStartKey'>;

export const knownDifferences: readonly KnownDifference[] = [
  {
    // The documentation names the error of a write that is invalid in one way, and not of one that is invalid in several.
    // It lists the reason ValidationError for an attribute that an expression names and the item lacks.
    reason: 'a transaction with an invalid write is rejected as a whole, or with reasons',
    isOf: ({ ours, theirs }) => isInvalid(ours) && isInvalid(theirs),
  },
  {
    // "ALL_OLD: Returns all of the attributes of the item, as they appeared before the UpdateItem operation." There are none.
    reason: 'dynoxide returns the key as the old item of an update that creates the item',
    isOf: ({ input, ours, theirs }) =>
      (input as UpdateCommandInput).ReturnValues === 'ALL_OLD' &&
      Object.keys(ours).length === 0 &&
      Object.keys((theirs.Attributes ?? {}) as object).length === 2,
  },
  {
    // "You can't target the same item with multiple operations within the same transaction." Both write nothing.
    reason: 'DynamoDB Local looks at the conditions of a transaction first, and then at items that it has twice',
    isOf: ({ input, ours, theirs }) =>
      'TransactItems' in input &&
      ours.error === 'ValidationException' &&
      theirs.error === 'TransactionCanceledException' &&
      hasItemTwice(input.TransactItems as TransactItem[]),
  },
  {
    // "If LastEvaluatedKey is not empty, it does not necessarily mean that there is more data in the result set."
    reason: 'DynamoDB Local knows that nothing follows the last item of a full page',
    isOf: ({ input, ours: { LastEvaluatedKey, ...ours }, theirs }) =>
      LastEvaluatedKey !== undefined && ours.ScannedCount === (input as Read).Limit && isDeepStrictEqual(ours, theirs),
  },
  {
    // A page that ends with the last item of a range has its key as LastEvaluatedKey, and a caller goes on from there.
    reason: 'DynamoDB Local rejects a start at the end of the range, after which nothing follows',
    isOf: ({ input, ours, theirs }) =>
      (input as Read).ExclusiveStartKey !== undefined &&
      ours.ScannedCount === 0 &&
      theirs.error === 'ValidationException',
  },
  {
    // "In a global secondary index, the key values do not need to be unique", and entries with equal ones have no order.
    reason: 'entries of the index with equal keys come in any order',
    isOf: ({ input, ours, theirs }) =>
      (input as Read).IndexName !== undefined && isDeepStrictEqual(indexKeys(ours), indexKeys(theirs)),
  },
  {
    // DynamoDB returns plain decimals. The document client reads large numbers as integers.
    reason: 'DynamoDB Local returns large numbers with an exponent, which the document client cannot read',
    isOf: ({ theirs }) => theirs.error === 'Error',
  },
];

const indexKeys = ({ Items = [] }: Outcome) =>
  (Items as Record<string, unknown>[]).map(({ due, dueAt }) => [due, dueAt]);

type TransactItem = Record<string, { Key?: Item; Item?: Item }>;

function hasItemTwice(items: readonly TransactItem[]): boolean {
  const keys = items.flatMap((item) =>
    Object.values(item).map(({ Key, Item = {} }) => JSON.stringify(Key ?? { pk: Item.pk, sk: Item.sk })),
  );
  return new Set(keys).size < keys.length;
}
