import { randomUUID } from 'node:crypto';
import type { Item, Write } from './write.ts';

/** The attribute with the mark of an item's last single write. A short name, because it adds to the size of the item. */
const markName = 'w';

/** Creates a mark that no other write has: the last 6 bytes of a UUID, which Node.js makes faster than random bytes. */
export function newMark(): string {
  return Buffer.from(randomUUID().slice(-12), 'hex').toString('base64url');
}

/**
 * Adds a mark to a put or an update with `onConditionFailed`; returns other writes as they are. The condition of a
 * marked update fails on an item that has its mark, so a repeated update is not applied twice.
 */
export function marked(write: Write, mark: string): Write {
  if (!write.onConditionFailed) return write;
  if ('Put' in write) return { ...write, Put: { ...write.Put, Item: { ...write.Put.Item, [markName]: mark } } };
  if (!('Update' in write)) return write;
  const {
    UpdateExpression = '',
    ConditionExpression,
    ExpressionAttributeNames,
    ExpressionAttributeValues,
  } = write.Update;
  const set = 'SET #mark = :mark';
  const notMarked = 'attribute_not_exists(#mark) OR #mark <> :mark';
  return {
    ...write,
    Update: {
      ...write.Update,
      UpdateExpression: /\bSET /.test(UpdateExpression)
        ? UpdateExpression.replace(/\bSET /, `${set}, `)
        : `${set} ${UpdateExpression}`,
      ConditionExpression: ConditionExpression ? `(${ConditionExpression}) AND (${notMarked})` : notMarked,
      ExpressionAttributeNames: { ...ExpressionAttributeNames, '#mark': markName },
      ExpressionAttributeValues: { ...ExpressionAttributeValues, ':mark': mark },
    },
  };
}

/** Returns whether an item has a mark. */
export function hasMark(item: Item, mark: string): boolean {
  return item[markName] === mark;
}

/** Returns an item without its mark. */
export function unmarked(item: Item): Item {
  if (!(markName in item)) return item;
  const { [markName]: _, ...rest } = item;
  return rest;
}
