import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { convertToNative } from '@aws-sdk/util-dynamodb';
import type { StoredItem } from '../errors.ts';
import { decodeItem } from './encoding.ts';
import { ExactNumber, type TableNumber } from './numbers.ts';
import { isNumber, setAttribute, type TableItem, type Value, ValueSet } from './values.ts';

/** Returns a stored item as the document client returns it. */
export function nativeItem(stored: StoredItem): Record<string, unknown> {
  const item = decodeItem(stored);
  // Without a `$` form, all values are the same.
  return stored.coded ? nativeMap(item) : item;
}

/** Returns a map as the document client returns it. */
export function nativeMap(map: TableItem): Record<string, unknown> {
  const native: Record<string, unknown> = {};
  for (const name of Object.keys(map)) setAttribute(native, name, nativeOf(map[name] as Value));
  return native;
}

function nativeOf(value: Value): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(nativeOf);
  if (value instanceof ExactNumber) return convertToNative({ N: value.text });
  if (value instanceof ValueSet) return new Set([...value.members.values()].map(nativeOf));
  return nativeMap(value);
}

/** Returns an item in the form of DynamoDB's interface, with types. */
export function marshalledItem(item: TableItem): Record<string, AttributeValue> {
  const marshalled: Record<string, AttributeValue> = {};
  for (const name of Object.keys(item)) setAttribute(marshalled, name, marshalledValue(item[name] as Value));
  return marshalled;
}

function marshalledValue(value: Value): AttributeValue {
  if (value === null) return { NULL: true };
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (isNumber(value)) return { N: textOf(value) };
  if (Array.isArray(value)) return { L: value.map(marshalledValue) };
  if (!(value instanceof ValueSet)) return { M: marshalledItem(value) };
  const members = [...value.members.values()];
  return value.type === 'SS' ? { SS: members as string[] } : { NS: members.map((one) => textOf(one as TableNumber)) };
}

/** Returns the text of a number, without an exponent as DynamoDB writes it. */
function textOf(number: TableNumber): string {
  const text = String(number);
  const [, sign = '', whole = '', fraction = '', power = ''] = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/.exec(text) ?? [];
  return power === '' ? text : `${sign}0.${'0'.repeat(Number(power) - 1)}${whole}${fraction}`;
}
