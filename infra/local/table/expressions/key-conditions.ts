import { Invalid } from '../errors.ts';
import type { Value } from '../values/values.ts';
import type { ConditionNode, parseCondition } from './conditions.ts';
import { nameOf, type Operand, type Placeholders } from './operands.ts';

/** An end of a range of sort keys. */
export type Bound = { operator: '<' | '<=' | '>' | '>='; value: string };

/** The partition and the ends of a query's range. */
export type KeyRange = { hash: string; bounds: Bound[] };

/**
 * Returns the range of a parsed `KeyConditionExpression`: the partition key is equal to a value, and the sort key, if it is
 * named, is compared with a value or is between two.
 *
 * @param hashName the name of the partition key
 * @param sortName the name of the sort key
 * @throws `Invalid` for any other condition
 */
export function keyRangeOf(
  { root }: ReturnType<typeof parseCondition>,
  placeholders: Placeholders,
  { hashName, sortName }: { hashName: string; sortName: string },
): KeyRange {
  const parts = root.is === 'and' ? root.parts : [root];
  if (parts.length > 2) throw new Invalid('Conditions can be of length 1 or 2 only');
  let hash: string | undefined;
  let bounds: Bound[] | undefined;
  for (const part of parts) {
    const name = comparedName(part, placeholders);
    if (name === hashName && part.is === 'comparison' && part.operator === '=' && hash === undefined)
      hash = text(part.right, placeholders, name);
    else if (name === sortName && bounds === undefined) bounds = boundsOf(part, placeholders, name);
    else if (name === hashName || name === sortName) throw notSupported();
    else throw new Invalid(`Query condition missed key schema element: ${hash === undefined ? hashName : sortName}`);
  }
  if (hash === undefined) throw new Invalid(`Query condition missed key schema element: ${hashName}`);
  return { hash, bounds: bounds ?? [] };
}

/** Returns whether a sort key is between the ends of a range. Texts are compared by their bytes, as SQLite does. */
export function isWithin(sortKey: string, bounds: readonly Bound[]): boolean {
  return bounds.every(({ operator, value }) => {
    const order = Buffer.compare(Buffer.from(sortKey), Buffer.from(value));
    return order === 0 ? operator.endsWith('=') : operator.startsWith(order < 0 ? '<' : '>');
  });
}

const notSupported = () => new Invalid('Query key condition not supported');

/** Returns the name of the attribute that a part of the condition compares. */
function comparedName(part: ConditionNode, placeholders: Placeholders): string {
  if ((part.is !== 'comparison' && part.is !== 'between') || part.left.is !== 'path' || part.left.path.length > 1)
    throw notSupported();
  return nameOf(part.left.path[0] as string, placeholders);
}

function boundsOf(part: ConditionNode, placeholders: Placeholders, name: string): Bound[] {
  if (part.is === 'between')
    return [
      { operator: '>=', value: text(part.from, placeholders, name) },
      { operator: '<=', value: text(part.to, placeholders, name) },
    ];
  if (part.is !== 'comparison' || part.operator === '<>') throw notSupported();
  const value = text(part.right, placeholders, name);
  if (part.operator !== '=') return [{ operator: part.operator, value }];
  return [
    { operator: '>=', value },
    { operator: '<=', value },
  ];
}

function text(operand: Operand, { values }: Placeholders, name: string): string {
  const value: Value | undefined = operand.is === 'value' ? values[operand.placeholder] : undefined;
  if (value === undefined) throw notSupported();
  if (typeof value !== 'string')
    throw new Invalid('One or more parameter values were invalid: Condition parameter type does not match schema type');
  if (value === '')
    throw new Invalid(
      `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`,
    );
  return value;
}
