import { tableSchema } from '../../../lib/names/table-schema.ts';
import { Invalid, InvalidItem, Unsupported } from './errors.ts';
import {
  type Condition,
  type ConditionKind,
  checkCondition,
  fulfils,
  namedAttributes,
  parseCondition,
} from './expressions/conditions.ts';
import { isWithin, type KeyRange, keyRangeOf } from './expressions/key-conditions.ts';
import { checkPlaceholders, type Placeholders } from './expressions/operands.ts';
import { parseProjection, projected, projectedNames } from './expressions/projections.ts';
import { checkUpdate, parseUpdate } from './expressions/updates.ts';
import type { Reader, RowPage, RowRange, StartKey } from './reader.ts';
import { type ItemKey, keyNames, keyOf, largestItem, rowOf } from './rows.ts';
import { decode, decodeItem, encode, type Stored } from './values/encoding.ts';
import { nativeItem, nativeMap } from './values/native.ts';
import type { Value } from './values/values.ts';
import type { PreparedWrite, WriteJob } from './writes/writer.ts';

/** The input of a command of the document client. */
export type Input = Record<string, unknown>;

const { partitionKey, sortKey, dueIndex } = tableSchema;

/** The limits of DynamoDB. */
const limits = {
  transactionItems: 100,
  batchWrites: 25,
  batchReads: 100,
  batchReadBytes: 16 * 1024 * 1024,
  expressionBytes: 4096,
};

const expressionParameters = ['ConditionExpression', 'ExpressionAttributeNames', 'ExpressionAttributeValues'];
const writeParameters = [...expressionParameters, 'TableName', 'ReturnValuesOnConditionCheckFailure'];
const singleParameters = ['ReturnValues', 'ReturnConsumedCapacity'];
const pageParameters = [
  ...['TableName', 'IndexName', 'FilterExpression', 'ProjectionExpression', 'ExpressionAttributeNames'],
  ...['ExpressionAttributeValues', 'Limit', 'ExclusiveStartKey', 'ConsistentRead', 'Select', 'ReturnConsumedCapacity'],
];

/** The parameters that each operation takes. */
const parameters = {
  GetItem: ['TableName', 'Key', 'ConsistentRead', 'ReturnConsumedCapacity'],
  PutItem: ['Item', ...writeParameters, ...singleParameters],
  UpdateItem: ['Key', 'UpdateExpression', ...writeParameters, ...singleParameters],
  DeleteItem: ['Key', ...writeParameters, ...singleParameters],
  Query: ['KeyConditionExpression', 'ScanIndexForward', ...pageParameters],
  Scan: pageParameters,
  BatchGetItem: ['RequestItems', 'ReturnConsumedCapacity'],
  BatchWriteItem: ['RequestItems', 'ReturnConsumedCapacity'],
  // The token is not needed: a call is made once, and its answer is not lost on a network.
  TransactWriteItems: ['TransactItems', 'ClientRequestToken', 'ReturnConsumedCapacity'],
  Put: ['Item', ...writeParameters],
  Update: ['Key', 'UpdateExpression', ...writeParameters],
  Delete: ['Key', ...writeParameters],
  ConditionCheck: ['Key', ...writeParameters],
  PutRequest: ['Item'],
  DeleteRequest: ['Key'],
  KeysAndAttributes: ['Keys', 'ConsistentRead'],
} satisfies Record<string, readonly string[]>;

/**
 * Checks that an operation takes all parameters of its input.
 *
 * @throws `Unsupported` with the name of another parameter
 */
function checkParameters(operation: keyof typeof parameters, input: Input): void {
  for (const name in input)
    if (input[name] !== undefined && !parameters[operation].includes(name))
      throw new Unsupported(`the parameter ${name} of ${operation}`);
}

/** Checks that a parameter has one of the values that stores send. */
function checkValue(operation: string, input: Input, name: string, allowed: readonly string[]): void {
  const value = input[name];
  if (value !== undefined && !allowed.includes(value as string))
    throw new Unsupported(`the value ${value} of ${name} of ${operation}`);
}

/** The bytes that one read unit reads, strongly consistent. */
const readUnit = 4096;

const readUnits = (bytes: number, isConsistent: boolean) =>
  Math.max(1, Math.ceil(bytes / readUnit)) * (isConsistent ? 1 : 0.5);

/** The read units of a command, of the table and of its index. */
export type ReadUnits = { table: number; index: number };

/** Carries out a `GetItem`. */
export function getItemCommand(reader: Reader, input: Input): { output: object; units: ReadUnits } {
  checkParameters('GetItem', input);
  const found = reader.get(keyOf(input.Key as object));
  const units = { table: readUnits(found?.size ?? 0, input.ConsistentRead === true), index: 0 };
  return { output: found ? { Item: nativeItem(found) } : {}, units };
}

/** Carries out a `BatchGetItem`. */
export function batchGetItems(reader: Reader, input: Input, tableName: string): { output: object; units: ReadUnits } {
  checkParameters('BatchGetItem', input);
  const request = onlyTable<Input>(input.RequestItems, tableName);
  checkParameters('KeysAndAttributes', request);
  const keys = (request.Keys as object[]).map(keyOf);
  if (keys.length === 0 || keys.length > limits.batchReads)
    throw new Invalid(
      'Too many items requested for the BatchGetItem call'.concat(keys.length === 0 ? ': at least 1 is required' : ''),
    );
  checkDifferent(keys, 'Provided list of item keys contains duplicates');
  const items: object[] = [];
  let bytes = 0;
  let unprocessed: ItemKey[] = [];
  const units = { table: 0, index: 0 };
  reader.together(() => {
    for (const [at, key] of keys.entries()) {
      const found = reader.get(key);
      bytes += found?.size ?? 0;
      if (bytes > limits.batchReadBytes) {
        unprocessed = keys.slice(at);
        return;
      }
      units.table += readUnits(found?.size ?? 0, request.ConsistentRead === true);
      if (found) items.push(nativeItem(found));
    }
  });
  const UnprocessedKeys = unprocessed.length === 0 ? {} : { [tableName]: { ...request, Keys: unprocessed } };
  return { output: { Responses: { [tableName]: items }, UnprocessedKeys }, units };
}

/** Carries out a `Query` or a `Scan`. */
export function queryPage(
  reader: Reader,
  operation: 'Query' | 'Scan',
  input: Input,
): { output: object; units: ReadUnits } {
  checkParameters(operation, input);
  checkValue(operation, input, 'Select', ['COUNT']);
  checkValue(operation, input, 'IndexName', [dueIndex.name]);
  const inIndex = input.IndexName !== undefined;
  if (inIndex && input.ConsistentRead === true)
    throw new Invalid('Consistent reads are not supported on global secondary indexes');
  const isCount = input.Select === 'COUNT';
  const limit = (input.Limit as number | undefined) ?? Number.POSITIVE_INFINITY;
  if (!(limit >= 1))
    throw new Invalid(`Value '${limit}' at 'limit' failed to satisfy constraint: greater than or equal to 1`);

  const keyCondition = operation === 'Query' ? conditionIn(input, 'KeyConditionExpression') : undefined;
  const filter = conditionIn(input, 'FilterExpression');
  const projection =
    input.ProjectionExpression === undefined ? undefined : parseProjection(String(input.ProjectionExpression));
  if (operation === 'Query' && !keyCondition)
    throw new Invalid('Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.');
  if (projection && isCount)
    throw new Invalid('Cannot specify the ProjectionExpression when choosing to get only the Count');
  const placeholders = placeholdersIn(
    input,
    [keyCondition, filter, projection].filter((one) => one !== undefined),
  );
  if (filter) checkCondition(filter, placeholders);
  const [hashName, sortName] = inIndex ? [dueIndex.partitionKey, dueIndex.sortKey] : [partitionKey, sortKey];
  if (keyCondition) checkCondition(keyCondition, placeholders);
  const keyRange = keyCondition && keyRangeOf(keyCondition, placeholders, { hashName, sortName });
  if (operation === 'Query' && filter) {
    const key = [hashName, sortName].find((name) => namedAttributes(filter, placeholders).has(name));
    if (key !== undefined)
      throw new Invalid(`Filter Expression can only contain non-primary key attributes: Primary key attribute: ${key}`);
  }
  const names = projection && projectedNames(projection, placeholders);
  const range: RowRange = {
    inIndex,
    hash: keyRange?.hash,
    bounds: keyRange?.bounds ?? [],
    descending: input.ScanIndexForward === false,
    after: input.ExclusiveStartKey ? startKeyOf(input.ExclusiveStartKey as Input, inIndex, keyRange) : undefined,
    limit,
    withItems: !isCount || filter !== undefined,
  };
  const page = reader.page(range);
  const { items, count } = selected(page, filter, placeholders, names, isCount);
  const units = readUnits(page.size, input.ConsistentRead === true);
  const output = {
    ...(!isCount && { Items: items }),
    Count: count,
    ScannedCount: page.items.length,
    ...(page.last && { LastEvaluatedKey: page.last }),
  };
  return { output, units: inIndex ? { table: 0, index: units } : { table: units, index: 0 } };
}

/** Returns the items of a page that pass the filter, as the document client returns them; only their number for a count. */
function selected(
  { items }: RowPage,
  filter: Condition | undefined,
  placeholders: Placeholders,
  names: readonly string[] | undefined,
  isCount: boolean,
): { items: object[]; count: number } {
  if (isCount && !filter) return { items: [], count: items.length };
  const found: object[] = [];
  let count = 0;
  for (const { text = '{}', coded = false } of items) {
    const item = decodeItem({ text, coded });
    if (filter && !fulfils(item, filter, placeholders)) continue;
    count += 1;
    if (isCount) continue;
    const part = names ? projected(item, names) : item;
    found.push(coded ? nativeMap(part) : part);
  }
  return { items: found, count };
}

function startKeyOf(key: Input, inIndex: boolean, range: KeyRange | undefined): StartKey {
  const wanted = [...keyNames, ...(inIndex ? [dueIndex.partitionKey, dueIndex.sortKey] : [])];
  const names = Object.keys(key).filter((name) => key[name] !== undefined);
  if (names.length !== wanted.length || wanted.some((name) => typeof key[name] !== 'string'))
    throw new Invalid('The provided starting key is invalid: The provided key element does not match the schema');
  const { partitionKey: hashName, sortKey: sortName } = inIndex ? dueIndex : tableSchema;
  if (range && key[hashName] !== range.hash)
    throw new Invalid('The provided starting key is outside query boundaries based on provided conditions');
  if (range && !isWithin(key[sortName] as string, range.bounds))
    throw new Invalid('The provided starting key does not match the range key predicate');
  const [pk, sk] = [key[partitionKey] as string, key[sortKey] as string];
  return inIndex
    ? { pk, sk, due: key[dueIndex.partitionKey] as string, dueAt: key[dueIndex.sortKey] as string }
    : { pk, sk };
}

/** Returns the job of a `PutItem`, an `UpdateItem` or a `DeleteItem`. */
export function singleJob(operation: 'PutItem' | 'UpdateItem' | 'DeleteItem', input: Input): WriteJob {
  checkParameters(operation, input);
  const returned = operation === 'UpdateItem' ? ['NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_NEW'] : ['NONE', 'ALL_OLD'];
  checkValue(operation, input, 'ReturnValues', returned);
  const action = { PutItem: 'put', UpdateItem: 'update', DeleteItem: 'delete' } as const;
  const write = preparedWrite(action[operation], input);
  const returns = input.ReturnValues as PreparedWrite['returns'] | 'NONE';
  return { is: 'single', writes: [returns && returns !== 'NONE' ? { ...write, returns } : write] };
}

const transactionActions = { Put: 'put', Update: 'update', Delete: 'delete', ConditionCheck: 'check' } as const;

/** Returns the job of a `TransactWriteItems`. */
export function transactionJob(input: Input, checkTable: (input: Input) => void): WriteJob {
  checkParameters('TransactWriteItems', input);
  const items = (input.TransactItems ?? []) as Record<string, Input | undefined>[];
  if (items.length === 0 || items.length > limits.transactionItems)
    throw new Invalid(
      `Member must have length ${items.length === 0 ? 'greater than or equal to 1' : `less than or equal to ${limits.transactionItems}`}: transactItems`,
    );
  const writes = items.map((item): PreparedWrite => {
    const kinds = Object.keys(item).filter((kind) => item[kind] !== undefined);
    const [kind] = kinds as (keyof typeof transactionActions)[];
    if (kinds.length !== 1 || kind === undefined)
      throw new Invalid('TransactItems can only contain one of Check, Put, Update or Delete');
    const action = transactionActions[kind];
    if (!action) throw new Unsupported(`${kind} in TransactWriteItems`);
    const spec = item[kind] as Input;
    checkTable(spec);
    checkParameters(kind, spec);
    try {
      return preparedWrite(action, spec);
    } catch (error) {
      if (!(error instanceof InvalidItem)) throw error;

      const { pk, sk } = (spec.Item ?? spec.Key ?? {}) as Partial<Record<string, unknown>>;
      return { action: 'check', pk: String(pk), sk: String(sk), invalid: error.message };
    }
  });
  checkDifferent(writes, 'Transaction request cannot include multiple operations on one item');
  return { is: 'transaction', writes };
}

/** Returns the job of a `BatchWriteItem`. All its writes are committed together, so that none stays unprocessed. */
export function batchWriteJob(input: Input, tableName: string): WriteJob {
  checkParameters('BatchWriteItem', input);
  const requests = onlyTable<Record<string, Input | undefined>[]>(input.RequestItems, tableName);
  if (requests.length === 0 || requests.length > limits.batchWrites)
    throw new Invalid(
      `Member must have length ${requests.length === 0 ? 'greater than or equal to 1' : `less than or equal to ${limits.batchWrites}`}: requestItems`,
    );
  const writes = requests.map((request) => {
    const { PutRequest, DeleteRequest, ...rest } = request;
    if (Object.keys(rest).length > 0 || (PutRequest === undefined) === (DeleteRequest === undefined))
      throw new Invalid('Supplied AttributeValue has more than one datatypes set, or a request is not a put or delete');
    if (PutRequest) {
      checkParameters('PutRequest', PutRequest);
      return preparedWrite('put', PutRequest);
    }
    checkParameters('DeleteRequest', DeleteRequest as Input);
    return preparedWrite('delete', DeleteRequest as Input);
  });
  checkDifferent(writes, 'Provided list of item keys contains duplicates');
  return { is: 'batch', writes };
}

/** Returns the request for the only table. */
function onlyTable<Request>(requestItems: unknown, tableName: string): Request {
  const tables = Object.keys((requestItems ?? {}) as object);
  if (tables.length !== 1 || tables[0] !== tableName)
    throw new Unsupported(`a batch for the tables ${tables.join(', ')}`);
  return (requestItems as Record<string, Request>)[tableName] as Request;
}

function checkDifferent(keys: readonly ItemKey[], message: string): void {
  const seen = new Map<string, Set<string>>();
  for (const { pk, sk } of keys) {
    const ofPartition = seen.get(pk) ?? new Set();
    if (ofPartition.has(sk)) throw new Invalid(message);
    seen.set(pk, ofPartition.add(sk));
  }
}

/** Checks a write, and returns it in a form that can be sent to the writer. */
function preparedWrite(action: PreparedWrite['action'], input: Input): PreparedWrite {
  const condition = conditionIn(input, 'ConditionExpression');
  if (action === 'check' && !condition)
    throw new Invalid('The expression can not be empty: ConditionExpression of ConditionCheck');
  const update = input.UpdateExpression === undefined ? undefined : parseUpdate(checkedText('UpdateExpression', input));
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: given } = input as {
    ExpressionAttributeNames?: Record<string, string>;
    ExpressionAttributeValues?: Record<string, unknown>;
  };
  const expressions = [condition, update].filter((one) => one !== undefined);
  checkPlaceholders(expressions, names, given);
  const values = given && encodedValues(given);
  if (expressions.length > 0) {
    const placeholders = { names: names ?? {}, values: values ? decodedValues(values) : {} };
    if (condition) checkCondition(condition, placeholders);
    if (update) checkUpdate(update, placeholders, keyNames);
  }
  checkValue(action, input, 'ReturnValuesOnConditionCheckFailure', ['NONE', 'ALL_OLD']);
  const row = action === 'put' ? rowOf((input.Item ?? {}) as object) : undefined;
  return {
    action,
    ...(row ? { pk: row.pk, sk: row.sk, row } : keyOf(input.Key as object)),
    ...(condition && { condition: input.ConditionExpression as string }),
    ...(update && { update: input.UpdateExpression as string }),
    ...(names && { names: { ...names } }),
    ...(values && { values }),
    ...(input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && { returnsOnFailure: true }),
  };
}

function checkedText(kind: string, input: Input): string {
  const text = String(input[kind]);
  if (Buffer.byteLength(text) > limits.expressionBytes)
    throw new Invalid(
      `Invalid ${kind}: Expression size has exceeded the maximum allowed size; expression size: ${Buffer.byteLength(text)}`,
    );
  return text;
}

function conditionIn(input: Input, kind: ConditionKind): Condition | undefined {
  return input[kind] === undefined ? undefined : parseCondition(kind, checkedText(kind, input));
}

function placeholdersIn(
  { ExpressionAttributeNames, ExpressionAttributeValues }: Input,
  expressions: Parameters<typeof checkPlaceholders>[0],
): Placeholders {
  const names = ExpressionAttributeNames as Record<string, string> | undefined;
  const values = ExpressionAttributeValues as Record<string, unknown> | undefined;
  checkPlaceholders(expressions, names, values);
  return { names: names ?? {}, values: values ? decodedValues(encodedValues(values)) : {} };
}

function encodedValues(values: Record<string, unknown>): Record<string, Stored> {
  const encoded: Record<string, Stored> = {};
  for (const name in values) {
    if (values[name] === undefined) continue;
    const { stored, size } = encode(values[name]);
    if (size > largestItem)
      throw new Invalid(`ExpressionAttributeValues must not exceed ${largestItem} bytes: ${name}`);
    encoded[name] = stored;
  }
  return encoded;
}

function decodedValues(encoded: Readonly<Record<string, Stored>>): Record<string, Value> {
  const values: Record<string, Value> = {};
  for (const name in encoded) values[name] = decode(encoded[name] as Stored);
  return values;
}
