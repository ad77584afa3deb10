import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  NumberValue,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../../../lib/table/access/write.ts';
import { oneOf, type Random } from '../../../soak/random.ts';

/** A command of the document client for a table of a name. */
export type GeneratedCommand = (TableName: string) => { input: object };

const some = <One>(random: Random, most: number, create: () => One): One[] =>
  Array.from({ length: Math.floor(random() * (most + 1)) }, create);

const partitions = ['p', 'q', 'O#acme#T'];
/** UTF-16 orders the last two the other way round. */
const sortKeys = ['a', 'b', 'b#1', 'c', 'é', 'z', '~', '\uffee', '🙂'];
const texts = ['', 'a', 'ab', 'b', 'é', '🙂', '2026-01-01T00:00:00.000Z', '"\\\u0000\n'];
const numbers = [0, 1, -1, 2, 10, 0.1, 0.2, 0.3, -0.5, 1e-7, 123_456_789.125, 9_007_199_254_740_991];
const exact = ['9007199254740993', '0.12345678901234567890123456789', '-1e30', '1E-20'].map(
  (text) => new NumberValue(text),
);
const names = ['n', 'm', 's', 'labels', 'kind', 'nested', 'due', 'dueAt', 'expiresAt', 'version'];

const number = (random: Random) => (random() < 0.1 ? oneOf(random, exact) : oneOf(random, numbers));
const labels = (random: Random) => new Set(['a', 'b', 'c'].slice(Math.floor(random() * 3)));

function value(random: Random, depth = 0): unknown {
  const choices = depth < 2 ? 10 : 6;
  switch (Math.floor(random() * choices)) {
    case 0:
    case 1:
      return oneOf(random, texts);
    case 2:
    case 3:
      return number(random);
    case 4:
      return random() < 0.5;
    case 5:
      return null;
    case 6:
      return labels(random);
    case 7:
      return new Set([1, 2, 0.5].slice(Math.floor(random() * 3)));
    case 8:
      return some(random, 3, () => value(random, depth + 1));
  }
  const fields = some(random, 3, () => [oneOf(random, ['a', 'b', '$S', '$m', '#']), value(random, depth + 1)]);
  return Object.fromEntries(fields);
}

const key = (random: Random) => ({ pk: oneOf(random, partitions), sk: oneOf(random, sortKeys) });

/** Returns a key, sometimes one that is not valid. */
const anyKey = (random: Random): Item =>
  random() < 0.02 ? oneOf<Item>(random, [{ pk: 'p' }, { pk: 1, sk: 'a' }, { pk: 'p', sk: '' }]) : key(random);

const isInIndex = (name: string) => name === 'due' || name === 'dueAt';

/** A time in the index. Few entries have the same, because their order is not defined. */
const dueTime = (random: Random) => `2026-01-0${1 + Math.floor(random() * 9)}T${Math.floor(random() * 1_000_000)}`;

function item(random: Random): Item {
  const large = random() < 0.02 ? { large: 'x'.repeat(Math.floor(random() * 450_000)) } : {};
  return {
    ...anyKey(random),
    ...large,
    ...(random() < 0.8 && { n: number(random) }),
    ...(random() < 0.5 && { m: value(random) }),
    ...(random() < 0.5 && { s: oneOf(random, texts) }),
    ...(random() < 0.5 && { labels: labels(random) }),
    ...(random() < 0.5 && { kind: oneOf(random, ['task', 'other']) }),
    ...(random() < 0.5 && { nested: { checked: number(random), more: value(random) } }),
    ...(random() < 0.4 && { due: oneOf(random, ['A', 'B']), dueAt: dueTime(random) }),
    ...(random() < 0.05 && { due: number(random) }),
    absent: undefined,
  };
}

type Expression = {
  text: string;
  names?: Record<string, string>;
  values?: Record<string, unknown>;
};

/** The conditions that stores send, by their parts. */
const conditionParts: readonly ((random: Random) => Expression)[] = [
  () => ({ text: 'attribute_exists(pk)' }),
  () => ({ text: 'attribute_not_exists(pk)' }),
  (random) => ({ text: 'attribute_not_exists(#a)', names: { '#a': oneOf(random, names) } }),
  (random) => ({
    text: `#b ${oneOf(random, ['=', '<>', '<', '<=', '>', '>='])} :b`,
    names: { '#b': oneOf(random, names) },
    values: { ':b': random() < 0.5 ? number(random) : oneOf(random, texts) },
  }),
  (random) => ({ text: '#c = :c', names: { '#c': oneOf(random, names) }, values: { ':c': value(random) } }),
  (random) => ({ text: 'n < version OR n = :d', values: { ':d': number(random) } }),
  (random) => ({ text: 'size(labels) < :e', values: { ':e': oneOf(random, [1, 2, 3]) } }),
  (random) => ({ text: 'begins_with(s, :f)', values: { ':f': oneOf(random, texts) } }),
  (random) => ({ text: 'contains(s, :g)', values: { ':g': oneOf(random, texts) } }),
  (random) => ({ text: 'contains(labels, :h)', values: { ':h': oneOf(random, ['a', 'b']) } }),
  (random) => ({
    text: '#i.#j = :i',
    names: { '#i': 'nested', '#j': 'checked' },
    values: { ':i': number(random) },
  }),
  (random) => {
    const [from, to] = [oneOf(random, numbers), oneOf(random, numbers)].sort((a, b) => a - b);
    return { text: 'n BETWEEN :k AND :l', values: { ':k': from, ':l': to } };
  },
];

const joined = (parts: readonly Expression[], text: string): Expression => ({
  text,
  names: Object.assign({}, ...parts.map(({ names }) => names)),
  values: Object.assign({}, ...parts.map(({ values }) => values)),
});

function condition(random: Random): Expression {
  const parts = conditionParts.filter(() => random() < 0.15).map((create) => create(random));
  const [first = { text: 'attribute_not_exists(m)' }, ...more] = parts;
  const text = more.reduce(
    (so, part) => (random() < 0.5 ? `(${so}) AND (${part.text})` : `${so} OR ${part.text}`),
    first.text,
  );
  return joined([first, ...more], text);
}

/** The updates that stores send, by their parts: the name of the section, and the rest. */
const updateParts: readonly ((random: Random) => Expression & { section: string })[] = [
  (random) => {
    const name = oneOf(
      random,
      names.filter((one) => one !== 'labels'),
    );
    // DynamoDB Local lets an update give an attribute of the index another type, and has another item then.
    const given = isInIndex(name) ? dueTime(random) : value(random);
    return { section: 'SET', text: '#ua = :ua', names: { '#ua': name }, values: { ':ua': given } };
  },
  (random) => ({ section: 'SET', text: 's = if_not_exists(s, :ub)', values: { ':ub': oneOf(random, texts) } }),
  (random) => ({ section: 'SET', text: `n = n ${oneOf(random, ['+', '-'])} :uc`, values: { ':uc': number(random) } }),
  () => ({ section: 'SET', text: 'version = n' }),
  (random) => ({ section: 'REMOVE', text: '#ud', names: { '#ud': oneOf(random, names) } }),
  () => ({ section: 'REMOVE', text: 'm' }),
  (random) => ({
    section: 'ADD',
    text: '#ue :ue',
    names: { '#ue': oneOf(random, ['n', 'm', 'count']) },
    values: { ':ue': number(random) },
  }),
  (random) => ({ section: 'ADD', text: 'labels :uf', values: { ':uf': labels(random) } }),
  (random) => ({ section: 'DELETE', text: 'labels :ug', values: { ':ug': labels(random) } }),
];

function update(random: Random): Expression {
  const targets = new Set<string>();
  const parts = updateParts
    .filter(() => random() < 0.25)
    .map((create) => create(random))
    .filter((part) => {
      // An attribute can be changed once.
      const [target = ''] = part.text.split(' ');
      const name = part.names?.[target] ?? target;
      return !targets.has(name) && targets.add(name);
    });
  if (parts.length === 0) parts.push({ section: 'REMOVE', text: 'absent' });
  const sections = [...new Set(parts.map(({ section }) => section))].map(
    (section) =>
      `${section} ${parts
        .filter((part) => part.section === section)
        .map(({ text }) => text)
        .join(', ')}`,
  );
  return joined(parts, sections.join(' '));
}

const isFull = (part: object | undefined) => part !== undefined && Object.keys(part).length > 0;

/** Returns the parameters of expressions. */
function placeholders(...expressions: readonly (Expression | undefined)[]) {
  const all = joined(
    expressions.filter((one) => one !== undefined),
    '',
  );
  return {
    ...(isFull(all.names) && { ExpressionAttributeNames: all.names }),
    ...(isFull(all.values) && { ExpressionAttributeValues: all.values }),
  };
}

function writeOf(random: Random, kind: 'Put' | 'Update' | 'Delete' | 'ConditionCheck') {
  const conditional = kind === 'ConditionCheck' || random() < 0.6 ? condition(random) : undefined;
  const changing = kind === 'Update' ? update(random) : undefined;
  return {
    ...(kind === 'Put' ? { Item: item(random) } : { Key: anyKey(random) }),
    ...(conditional && { ConditionExpression: conditional.text }),
    ...(changing && { UpdateExpression: changing.text }),
    ...placeholders(conditional, changing),
    ...(random() < 0.8 && { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }),
  };
}

const kinds = ['Put', 'Update', 'Delete', 'ConditionCheck'] as const;

/** Returns a random command, of the kinds and with the expressions that stores send. */
export function generateCommand(random: Random): GeneratedCommand {
  const roll = random();
  if (roll < 0.2) {
    const put = writeOf(random, 'Put');
    const returned = random() < 0.3 ? { ReturnValues: 'ALL_OLD' as const } : {};
    return (TableName) => new PutCommand({ TableName, ...(put as { Item: Item }), ...returned });
  }
  if (roll < 0.45) {
    const changed = writeOf(random, 'Update');
    const ReturnValues = oneOf(random, ['NONE', 'ALL_NEW', 'UPDATED_NEW', 'ALL_OLD'] as const);
    return (TableName) => new UpdateCommand({ TableName, ...changed, ReturnValues } as never);
  }
  if (roll < 0.52) {
    const removed = writeOf(random, 'Delete');
    const ReturnValues = oneOf(random, ['NONE', 'ALL_OLD'] as const);
    return (TableName) => new DeleteCommand({ TableName, ...removed, ReturnValues } as never);
  }
  if (roll < 0.7) {
    const writes = some(random, 6, () => {
      const kind = oneOf(random, kinds);
      return [kind, writeOf(random, kind)] as const;
    });
    return (TableName) =>
      new TransactWriteCommand({
        TransactItems: writes.map(([kind, spec]) => ({ [kind]: { TableName, ...spec } })) as never,
      });
  }
  if (roll < 0.74) {
    const requests = some(random, 5, () =>
      random() < 0.7 ? { PutRequest: { Item: item(random) } } : { DeleteRequest: { Key: key(random) } },
    );
    return (TableName) => new BatchWriteCommand({ RequestItems: { [TableName]: requests } });
  }
  if (roll < 0.82) {
    const Key = anyKey(random);
    return (TableName) => new GetCommand({ TableName, Key, ConsistentRead: true });
  }
  if (roll < 0.86) {
    const Keys = some(random, 5, () => key(random));
    return (TableName) => new BatchGetCommand({ RequestItems: { [TableName]: { Keys, ConsistentRead: true } } });
  }
  return generateQuery(random);
}

function generateQuery(random: Random): GeneratedCommand {
  const limit = random() < 0.6 ? { Limit: 1 + Math.floor(random() * 5) } : {};
  const ScanIndexForward = random() < 0.5;
  if (random() < 0.2) {
    const until = `2026-01-0${1 + Math.floor(random() * 9)}`;
    const values = { ':partition': oneOf(random, ['A', 'B']), ':until': until };
    const from = random() < 0.5 ? { ':from': '2026-01-02' } : {};
    return (TableName) =>
      new QueryCommand({
        TableName,
        IndexName: 'due',
        KeyConditionExpression: `#due = :partition AND ${isFull(from) ? '#dueAt BETWEEN :from AND :until' : '#dueAt <= :until'}`,
        ExpressionAttributeNames: { '#due': 'due', '#dueAt': 'dueAt' },
        ExpressionAttributeValues: { ...values, ...from },
        ScanIndexForward,
        ...limit,
      });
  }
  const range = {
    text: random() < 0.7 ? 'pk = :pk AND sk BETWEEN :from AND :to' : 'pk = :pk',
    values: { ':pk': oneOf(random, partitions) },
  };
  const bounds = { ':from': oneOf(random, [' ', ...sortKeys]), ':to': oneOf(random, sortKeys) };
  const filter = random() < 0.4 ? withoutKeys(condition(random)) : undefined;
  const isCount = random() < 0.2;
  const only =
    !isCount && random() < 0.3
      ? { text: '#only0, #only1', names: { '#only0': 'sk', '#only1': oneOf(random, names) } }
      : undefined;
  const start = random() < 0.2 ? { ExclusiveStartKey: { pk: range.values[':pk'], sk: oneOf(random, sortKeys) } } : {};
  const scans = random() < 0.1;
  return (TableName) => {
    const read = {
      TableName,
      ConsistentRead: true,
      ...(filter && { FilterExpression: filter.text }),
      ...(only && { ProjectionExpression: only.text }),
      ...(isCount && { Select: 'COUNT' as const }),
    };
    // The engine decides the order of a scan, so only whole scans can be compared.
    if (scans) return new ScanCommand({ ...read, ...placeholders(filter, only) });
    const ofRange = { ...range, values: { ...range.values, ...(range.text.includes(':from') && bounds) } };
    return new QueryCommand({
      ...read,
      KeyConditionExpression: range.text,
      ...placeholders(ofRange, filter, only),
      ScanIndexForward,
      ...limit,
      ...start,
    });
  };
}

/** Returns a filter of a query, which must not name the keys. */
function withoutKeys(expression: Expression): Expression {
  return { ...expression, text: expression.text.replaceAll('(pk)', '(version)') };
}
