import { randomBytes } from 'node:crypto';
import type { Item, Write } from './write.ts';

/** The attribute that names the last write that an item had alone; short, for it counts as a part of the item. */
const markName = 'w';

/** A mark that no other write of an item has. */
export function newMark(): string {
  return randomBytes(6).toString('base64url');
}

/**
 * A put or an update whose failed condition has a meaning, with a mark that it leaves on the item. An update is not
 * carried out again on an item with its mark, also where its own condition would still hold.
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
  const unlike = 'attribute_not_exists(#mark) OR #mark <> :mark';
  return {
    ...write,
    Update: {
      ...write.Update,
      UpdateExpression: /\bSET /.test(UpdateExpression)
        ? UpdateExpression.replace(/\bSET /, `${set}, `)
        : `${set} ${UpdateExpression}`,
      ConditionExpression: ConditionExpression ? `(${ConditionExpression}) AND (${unlike})` : unlike,
      ExpressionAttributeNames: { ...ExpressionAttributeNames, '#mark': markName },
      ExpressionAttributeValues: { ...ExpressionAttributeValues, ':mark': mark },
    },
  };
}

/** Whether an item has the mark of a write. */
export function hasMark(item: Item, mark: string): boolean {
  return item[markName] === mark;
}

/** An item as its store wrote it. */
export function unmarked(item: Item): Item {
  if (!(markName in item)) return item;
  const { [markName]: _, ...rest } = item;
  return rest;
}
