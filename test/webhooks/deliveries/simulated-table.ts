import type { Table } from '../../../lib/table/client.ts';
import { createShards } from '../../../lib/table/lists/shards.ts';
import type { Item } from '../../../lib/table/write.ts';
import { conditionFailed } from '../../table/fixtures/dynamodb-errors.ts';
import { awsMs } from './simulated-lambda.ts';
import type { SimulatedTime } from './simulated-time.ts';

type Key = { pk: string; sk: string };

/** A write, alone or in a transaction. */
type Write = {
  Key?: Key;
  Item?: Item & Key;
  UpdateExpression?: string;
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, string | number>;
};

/**
 * Creates a table in memory with only what deliveries ask of DynamoDB: the local engine cannot run in simulated time. A
 * request takes effect half-way through its time.
 */
export function simulateTable(time: SimulatedTime): Table {
  const partitions = new Map<string, Map<string, Item>>();
  const find = ({ pk, sk }: Key): Item | undefined => partitions.get(pk)?.get(sk);
  const put = (item: Item) => {
    const { pk, sk } = item as Key;
    const partition = partitions.get(pk) ?? new Map<string, Item>();
    partitions.set(pk, partition.set(sk, { ...item }));
  };

  function write(spec: Write): { Attributes: Item | undefined } {
    const key = (spec.Key ?? spec.Item) as Key;
    const before = find(key);
    if (!holds(before, spec)) throw conditionFailed(before);
    put(spec.Item ?? updated(before ?? { ...key }, spec));
    return { Attributes: find(key) };
  }

  function answer(kind: string, input: Item): unknown {
    const requested = Object.values((input.RequestItems as object | undefined) ?? {})[0];
    if (kind === 'BatchGetCommand') {
      const found = (requested as { Keys: Key[] }).Keys.map(find).filter((item) => item !== undefined);
      return { Responses: { [table.name]: found.map((item) => ({ ...item })) } };
    }
    if (kind === 'BatchWriteCommand') {
      for (const { PutRequest } of requested as { PutRequest: { Item: Item } }[]) put(PutRequest.Item);
    } else if (kind === 'TransactWriteCommand') {
      for (const one of input.TransactItems as Record<string, Write>[]) write(Object.values(one)[0] as Write);
    } else if (kind === 'QueryCommand') {
      const { ':pk': pk, ':from': from, ':to': to } = input.ExpressionAttributeValues as Record<string, string>;
      const items = [...(partitions.get(pk as string)?.values() ?? [])] as (Item & Key)[];
      return { Items: items.filter(({ sk }) => sk >= (from as string) && sk <= (to as string)) };
    } else if (kind === 'GetCommand') return { Item: find((input as Write).Key as Key) };
    else return write(input as Write);
    return {};
  }

  async function send(command: { input: Item }): Promise<unknown> {
    await time.sleep(awsMs.table / 2);
    const answered = Promise.try(() => answer(command.constructor.name, command.input));
    await Promise.allSettled([answered, time.sleep(awsMs.table / 2)]);
    return answered;
  }

  const client = { send } as unknown as Table['client'];
  const table: Table = { name: 'simulated', client, sleep: time.sleep, shards: createShards() };
  return table;
}

/** Whether the item exists, if it must, and each attribute in the condition is absent or compares as it says. */
function holds(item: Item | undefined, spec: Write): boolean {
  const { ConditionExpression: condition = '', ExpressionAttributeNames, ExpressionAttributeValues } = spec;
  if (condition.includes('attribute_exists(pk)') && !item) return false;
  const clauses = condition.matchAll(/attribute_not_exists\((#\w+)\) OR #\w+ (\S+) (:\w+)/g);
  return [...clauses].every(([, name = '', operator, valueName = '']) => {
    const found = item?.[ExpressionAttributeNames?.[name] as string] as string | undefined;
    const value = ExpressionAttributeValues?.[valueName] as string;
    if (found === undefined) return true;
    if (operator === '<=') return found <= value;
    return operator === '<' ? found < value : found !== value;
  });
}

/** The item that an update leaves behind: `SET a = :b`, `REMOVE a` and `ADD a :b`. */
function updated(before: Item, { UpdateExpression = '', ...spec }: Write): Item {
  const item = { ...before };
  const clauses = UpdateExpression.matchAll(/(SET|REMOVE|ADD) (.*?)(?= (?:SET|REMOVE|ADD) |$)/g);
  for (const [, clause, list = ''] of clauses)
    for (const part of list.split(', ')) {
      const [token = '', valueName = ''] = part.split(/[ =]+/);
      const name = spec.ExpressionAttributeNames?.[token] ?? token;
      const value = spec.ExpressionAttributeValues?.[valueName];
      if (clause === 'REMOVE') delete item[name];
      else item[name] = clause === 'SET' ? value : ((item[name] as number | undefined) ?? 0) + (value as number);
    }
  return item;
}
