import type { Table } from '../../../lib/table/client.ts';
import { createShards } from '../../../lib/table/lists/shards.ts';
import type { Item } from '../../../lib/table/write.ts';
import { cancelled, conditionFailed } from '../../table/fixtures/dynamodb-errors.ts';
import type { SimulatedTime } from './simulated-time.ts';

/** A value of an expression, as far as stores compare them. */
type Value = string | number | undefined;
type Names = Record<string, string>;
type Values = Record<string, Value>;
type Key = { pk: string; sk: string };

/** What a conditional write says, alone or in a transaction. */
type Spec = {
  Key?: Key;
  Item?: Item & Key;
  UpdateExpression?: string;
  ConditionExpression?: string;
  ExpressionAttributeNames?: Names;
  ExpressionAttributeValues?: Values;
};

/**
 * Creates a table in memory, for what the stores of deliveries and webhooks ask of DynamoDB: they run as they are, in
 * simulated time, where the local engine cannot. A request takes effect half-way through its time.
 *
 * @param requestMs how long the next request takes
 */
export function simulateTable(time: SimulatedTime, requestMs: () => number): Table {
  const partitions = new Map<string, Map<string, Item>>();

  const partitionOf = (pk: string) => {
    const partition = partitions.get(pk) ?? new Map<string, Item>();
    partitions.set(pk, partition);
    return partition;
  };
  const find = ({ pk, sk }: Key): Item | undefined => partitions.get(pk)?.get(sk);
  const put = (item: Item) => void partitionOf(item.pk as string).set(item.sk as string, { ...item });

  /** Carries a write out whose condition holds; `false` where it does not. */
  function write(kind: string, spec: Spec): boolean {
    const key = (spec.Key ?? spec.Item) as Key;
    const before = find(key);
    if (spec.ConditionExpression && !holds(spec.ConditionExpression, before, spec)) return false;
    if (kind === 'Put') put(spec.Item as Item);
    else if (kind === 'Delete') partitionOf(key.pk).delete(key.sk);
    else if (kind === 'Update') put(updated(before ?? { ...key }, spec));
    return true;
  }

  function transactWrite(writes: Record<string, Spec>[]) {
    const specs = writes.map((one) => (Object.entries(one) as [[string, Spec]])[0]);
    const failed = specs.map(([, spec]) => {
      const found = find((spec.Key ?? spec.Item) as Key);
      return spec.ConditionExpression && !holds(spec.ConditionExpression, found, spec)
        ? { failed: found ?? {} }
        : 'None';
    });
    if (failed.some((one) => one !== 'None')) throw cancelled(...failed);
    for (const [kind, spec] of specs) write(kind, spec);
    return {};
  }

  function query({ input }: { input: Item }) {
    const {
      ':pk': pk,
      ':partition': due,
      ':from': from,
      ':to': to,
      ':until': until,
    } = input.ExpressionAttributeValues as Values;
    const items = input.IndexName
      ? [...partitions.values()].flatMap((partition) => [...partition.values()].filter((item) => item.due === due))
      : [...(partitions.get(pk as string)?.values() ?? [])];
    const name = input.IndexName ? 'dueAt' : 'sk';
    const [least, most] = [from ?? '', to ?? until ?? '~'] as [string, string];
    const found = items
      .filter(({ [name]: sort }) => least <= (sort as string) && (sort as string) <= most)
      .sort((a, b) => ((a[name] as string) < (b[name] as string) ? -1 : 1));
    if (input.ScanIndexForward === false) found.reverse();
    const Items = found.slice(0, input.IndexName ? undefined : (input.Limit as number | undefined));
    return { Items: Items.map((item) => ({ ...item })), Count: Items.length };
  }

  function answer(kind: string, { input }: { input: Item }): unknown {
    const requested = (Object.values((input.RequestItems as object | undefined) ?? {}) as unknown[])[0];
    if (kind === 'BatchGet') {
      const found = (requested as { Keys: Key[] }).Keys.map(find).filter((item) => item !== undefined);
      return { Responses: { [table.name]: found.map((item) => ({ ...item })) } };
    }
    if (kind === 'BatchWrite') {
      for (const one of requested as { PutRequest: { Item: Item } }[]) put(one.PutRequest.Item);
      return {};
    }
    if (kind === 'TransactWrite') return transactWrite(input.TransactItems as Record<string, Spec>[]);
    if (kind === 'Query') return query({ input });
    const spec = input as Spec;
    const key = (spec.Key ?? spec.Item) as Key;
    const item = find(key);
    if (kind === 'Get') return { Item: item && { ...item } };
    if (!write(kind, spec)) throw conditionFailed(item);
    return { Attributes: input.ReturnValues ? { ...find(key) } : undefined };
  }

  async function send(command: { input: Item }): Promise<unknown> {
    const halfMs = requestMs() / 2;
    await time.sleep(halfMs);
    let answered: unknown;
    let error: unknown;
    try {
      answered = answer(command.constructor.name.replace('Command', ''), command);
    } catch (thrown) {
      error = thrown;
    }
    await time.sleep(halfMs);
    if (error) throw error;
    return answered;
  }

  const table: Table = {
    name: 'simulated',
    client: { send } as unknown as Table['client'],
    sleep: time.sleep,
    shards: createShards(),
  };
  return table;
}

/** Whether a condition holds for an item: comparisons and existence, joined by `AND`, `OR` and parentheses. */
function holds(condition: string, item: Item = {}, spec: Spec): boolean {
  const tokens = condition.match(/[()]|<>|<=|>=|[=<>]|[#:\w]+/g) ?? [];
  let at = 0;
  const next = () => tokens[at++] as string;
  const valueNamed = (token: string): Value =>
    token.startsWith(':') ? spec.ExpressionAttributeValues?.[token] : (item[nameOf(token, spec)] as Value);

  const any = (): boolean => {
    let result = all();
    while (tokens[at] === 'OR') {
      next();
      // Read to its end, whatever the result.
      result = all() || result;
    }
    return result;
  };
  const all = (): boolean => {
    let result = one();
    while (tokens[at] === 'AND') {
      next();
      result = one() && result;
    }
    return result;
  };
  const one = (): boolean => {
    const token = next();
    if (token === '(') {
      const result = any();
      next();
      return result;
    }
    if (token.startsWith('attribute_')) {
      next();
      const exists = valueNamed(next()) !== undefined;
      next();
      return exists === (token === 'attribute_exists');
    }
    return compare(valueNamed(token), next(), valueNamed(next()));
  };
  return any();
}

function compare(left: Value, operator: string, right: Value): boolean {
  if (operator === '<>') return left !== right;
  if (operator === '=') return left === right && left !== undefined;
  if (left === undefined || right === undefined) return false;
  if (operator === '<') return left < right;
  if (operator === '<=') return left <= right;
  return operator === '>' ? left > right : left >= right;
}

/** The item that an update leaves behind: `SET a = :b`, `REMOVE a` and `ADD a :b`. */
function updated(before: Item, spec: Spec): Item {
  const item = { ...before };
  const values = spec.ExpressionAttributeValues ?? {};
  for (const [, clause, list = ''] of (spec.UpdateExpression ?? '').matchAll(
    /(SET|REMOVE|ADD) (.*?)(?= (?:SET|REMOVE|ADD) |$)/g,
  ))
    for (const part of list.split(', ')) {
      const [token = '', value = ''] = part.split(/[ =]+/);
      const name = nameOf(token, spec);
      if (clause === 'REMOVE') delete item[name];
      else if (clause === 'SET') item[name] = values[value];
      else item[name] = ((item[name] as number | undefined) ?? 0) + (values[value] as number);
    }
  return item;
}

const nameOf = (token: string, { ExpressionAttributeNames }: Spec) => ExpressionAttributeNames?.[token] ?? token;
