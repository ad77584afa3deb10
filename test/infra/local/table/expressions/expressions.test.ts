import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { openLocalTable } from '../../../../../infra/local/table/local-table.ts';
import { openTestTable, tableName as TableName } from '../test-table.ts';

const key = { pk: 'p', sk: 's' };
const item = {
  ...key,
  ...{ text: 'abc', number: 5, nothing: null, on: true, labels: new Set(['a', 'b']) },
  ...{ list: ['x', { deep: 1 }], map: { inner: { text: 'deep' } } },
};

type Given = { names?: Record<string, string>; values?: Record<string, unknown> };

const expressions = (ConditionExpression: string, { names, values }: Given = {}) => ({
  ConditionExpression,
  ...(names && { ExpressionAttributeNames: names }),
  ...(values && { ExpressionAttributeValues: values }),
});

const { table } = openLocalTable({ path: ':memory:', tableName: TableName, kinds: [] });

/** Returns whether the item fulfils a condition, or the message of the error. */
async function check(condition: string, given?: Given): Promise<boolean | string> {
  await table.client.send(new PutCommand({ TableName, Item: item }));
  return table.client.send(new PutCommand({ TableName, Item: item, ...expressions(condition, given) })).then(
    () => true,
    (error) => (error.name === 'ConditionalCheckFailedException' ? false : `${error.name}: ${error.message}`),
  );
}

describe('a condition', () => {
  it.each<[string, boolean, Given?]>([
    ['attribute_exists(nothing)', true],
    ['attribute_exists(absent)', false],
    ['attribute_exists(#constructor)', false, { names: { '#constructor': 'constructor' } }],
    ['attribute_not_exists(map.inner.absent)', true],
    ['attribute_exists(list[1].deep) AND attribute_not_exists(list[2])', true],
    ['#m.#i.text = :v', true, { names: { '#m': 'map', '#i': 'inner' }, values: { ':v': 'deep' } }],
    ['text = :w OR text = :v AND number = :w', true, { values: { ':v': 5, ':w': 'abc' } }],
    ['(text = :w OR text = :v) and number = :v', true, { values: { ':v': 5, ':w': 'abc' } }],
    ['absent <> :v', true, { values: { ':v': 1 } }],
    ['absent = :v', false, { values: { ':v': 1 } }],
    ['text <> :v', true, { values: { ':v': 5 } }],
    ['text < :v', false, { values: { ':v': 5 } }],
    // By UTF-8 bytes; UTF-16 has them the other way round.
    [':a < :b', true, { values: { ':a': '\uffee', ':b': '🙂' } }],
    ['number BETWEEN :a AND :b', true, { values: { ':a': 5, ':b': 5.5 } }],
    ['nothing = :v', true, { values: { ':v': null } }],
    ['labels = :v', true, { values: { ':v': new Set(['b', 'a']) } }],
    ['list = :v', true, { values: { ':v': ['x', { deep: 1 }] } }],
    ['map = :v', false, { values: { ':v': { inner: { text: 'other' } } } }],
    ['size(labels) = :v', true, { values: { ':v': 2 } }],
    ['size(absent) < :v', false, { values: { ':v': 2 } }],
    ['begins_with(text, :v)', true, { values: { ':v': 'ab' } }],
    ['begins_with(number, :v)', false, { values: { ':v': '5' } }],
    ['contains(text, :v)', true, { values: { ':v': 'bc' } }],
    ['contains(labels, :v)', true, { values: { ':v': 'b' } }],
    ['contains(labels, :v)', false, { values: { ':v': 1 } }],
    ['contains(list, :v)', true, { values: { ':v': { deep: 1 } } }],
  ])('%s is %s', async (condition, expected, given) => expect(await check(condition, given)).toBe(expected));

  it.each<[string, string, Given?]>([
    ['text = ', 'Syntax error; token: "<EOF>"'],
    ['text == :v', 'Syntax error', { values: { ':v': 1 } }],
    ['text = :v extra', 'token: "extra"', { values: { ':v': 1 } }],
    ['text = "a"', 'Syntax error'],
    ['', 'can not be empty'],
    ['((text = :v))', 'redundant parentheses', { values: { ':v': 1 } }],
    ['text = :v', 'attribute value: :v'],
    ['#t = :v', 'attribute name: #t', { values: { ':v': 1 } }],
    ['text = :v', 'unused in expressions: keys: {:w}', { values: { ':v': 1, ':w': 1 } }],
    ['text = :v', 'unused in expressions: keys: {#n}', { names: { '#n': 'n' }, values: { ':v': 1 } }],
    ['text < :v', 'operator or function: <, operand type: BOOL', { values: { ':v': true } }],
    ['begins_with(text, :v)', 'begins_with, operand type: N', { values: { ':v': 1 } }],
    ['number BETWEEN :b AND :a', 'upper bound to be greater', { values: { ':a': 1, ':b': 2 } }],
    ['number BETWEEN :b AND :a', 'same data type', { values: { ':a': 'a', ':b': 2 } }],
  ])('%s is rejected: %s', async (condition, message, given) => {
    expect(await check(condition, given)).toMatch(/^ValidationException: /);
    expect(await check(condition, given)).toContain(message);
  });

  it.each<[string, string, Given?]>([
    ['NOT text = :v', 'NOT in ConditionExpression', { values: { ':v': 1 } }],
    ['text IN (:v)', 'IN in ConditionExpression', { values: { ':v': 1 } }],
    ['attribute_type(text, :v)', 'attribute_type() in ConditionExpression', { values: { ':v': 'S' } }],
    ['size(text) = :v', 'size() of other values', { values: { ':v': 3 } }],
  ])('%s throws the name of what is not supported', async (condition, name, given) =>
    expect(await check(condition, given)).toBe(
      `Unsupported: The table in the process does not support ${name}${name.includes('Expression') ? `: ${condition}` : ' than sets, lists and maps'}.`,
    ),
  );
});

/** Returns the item after an update, or the message of the error. */
async function update(UpdateExpression: string, { names, values }: Given = {}): Promise<Record<string, unknown>> {
  const local = openTestTable();
  await local.table.client.send(new PutCommand({ TableName, Item: item }));
  await local.table.client.send(
    new UpdateCommand({
      TableName,
      Key: key,
      UpdateExpression,
      ...(names && { ExpressionAttributeNames: names }),
      ...(values && { ExpressionAttributeValues: values }),
    }),
  );
  const { Item } = await local.table.client.send(new GetCommand({ TableName, Key: key }));
  return Item as Record<string, unknown>;
}

describe('an update', () => {
  it.each<[string, object, Given?]>([
    ['SET number = number + :v, copy = number', { number: 5.5, copy: 5 }, { values: { ':v': 0.5 } }],
    ['SET text = number, number = text', { text: 5, number: 'abc' }],
    ['SET number = :v - number', { number: -4 }, { values: { ':v': 1 } }],
    ['SET nothing = if_not_exists(nothing, :v)', { nothing: null }, { values: { ':v': 1 } }],
    ['SET absent = if_not_exists(absent, :v) + :v', { absent: 2 }, { values: { ':v': 1 } }],
    ['SET copy = map.inner, first = list[0]', { copy: { text: 'deep' }, first: 'x' }],
    ['REMOVE text, absent', { text: undefined }],
    ['ADD number :v, counter :v', { number: 4, counter: -1 }, { values: { ':v': -1 } }],
    ['ADD labels :v', { labels: new Set(['a', 'b', 'c']) }, { values: { ':v': new Set(['b', 'c']) } }],
    ['DELETE labels :v, absent :v', { labels: new Set(['a']) }, { values: { ':v': new Set(['b', 'c']) } }],
    ['DELETE labels :v', { labels: undefined }, { values: { ':v': new Set(['a', 'b']) } }],
    ['remove text set #n = :v', { text: undefined, name: 'x' }, { names: { '#n': 'name' }, values: { ':v': 'x' } }],
  ])('%s', async (expression, changed, given) =>
    expect(await update(expression, given)).toEqual(defined({ ...item, ...changed })),
  );

  it.each<[string, string, Given?]>([
    ['SET absent = absent + :v', 'refers to an attribute that does not exist', { values: { ':v': 1 } }],
    ['SET number = text + :v', 'incorrect data type', { values: { ':v': 1 } }],
    ['SET number = number + :v', 'operator: +, operand type: STRING', { values: { ':v': 'a' } }],
    ['ADD text :v', 'incorrect data type', { values: { ':v': 1 } }],
    ['ADD number :v', 'operator: ADD, operand type: STRING', { values: { ':v': 'a' } }],
    ['DELETE labels :v', 'operator: DELETE, operand type: NUMBER', { values: { ':v': 1 } }],
    ['DELETE labels :v', 'incorrect data type', { values: { ':v': new Set([1]) } }],
    ['SET text = :v, text = :v', 'overlap', { values: { ':v': 1 } }],
    ['SET text = :v REMOVE #t', 'overlap', { names: { '#t': 'text' }, values: { ':v': 1 } }],
    ['SET text = :v SET number = :v', '"SET" section can only be used once', { values: { ':v': 1 } }],
    ['SET pk = :v', 'Cannot update attribute pk', { values: { ':v': 'q' } }],
    ['SET due = :v', 'Type mismatch for Index Key due', { values: { ':v': 1 } }],
    ['SET text :v', 'Syntax error', { values: { ':v': 1 } }],
    ['text = :v', 'Syntax error', { values: { ':v': 1 } }],
    ['SET map.inner = :v', 'does not support the update of a nested attribute', { values: { ':v': 1 } }],
    ['SET list = list_append(list, :v)', 'does not support list_append()', { values: { ':v': [1] } }],
  ])('%s is rejected: %s', async (expression, message, given) =>
    expect(update(expression, given)).rejects.toThrow(message),
  );
});

/** Returns the attributes that have a value. */
const defined = (all: object) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
