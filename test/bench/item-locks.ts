import { tableSchema } from '../../lib/deployment/table-schema.ts';

/** A write in a request to DynamoDB: the fields that identify its item. */
type ItemWrite = { TableName: string; Key?: WireKey; Item?: WireKey };
type WireKey = Record<string, { S: string }>;
type Transaction = { TransactItems: Record<string, ItemWrite>[]; ClientRequestToken: string };

/** The items that a request writes, in its order, and the token that all tries of a transaction share. */
export type Writes = { items: string[]; token?: string };

/** Returns the writes of a request to DynamoDB; `undefined` for a request that has no conflicts. */
export function writesOf(action: string, body: string): Writes | undefined {
  if (/^(Put|Update|Delete)Item$/.test(action)) return { items: [nameOf(JSON.parse(body) as ItemWrite)] };
  if (action !== 'TransactWriteItems') return undefined;
  const { TransactItems, ClientRequestToken: token } = JSON.parse(body) as Transaction;
  // A ConditionCheck has conflicts as a write has.
  return { items: TransactItems.map((one) => nameOf(Object.values(one)[0] as ItemWrite)), token };
}

function nameOf({ TableName, Key, Item }: ItemWrite): string {
  const key = (Key ?? Item) as WireKey;
  return JSON.stringify([TableName, key[tableSchema.partitionKey]?.S, key[tableSchema.sortKey]?.S]);
}

/** The result of `take`: the items are held until `release`, or `conflicts` says which are held by others. */
type Taken = { release: () => void } | { conflicts: boolean[] };

/**
 * Creates the locks of items by DynamoDB's rules. A transaction, or a single write, conflicts with another transaction in
 * progress on one of its items, whatever either does with it. A single write holds no item, since others wait for it.
 * Neither does a transaction that is cancelled: DynamoDB guarantees nothing about its items until then.
 */
export function createItemLocks() {
  const held = new Set<string>();
  return {
    take({ items, token }: Writes): Taken {
      const conflicts = items.map((item) => held.has(item));
      if (conflicts.includes(true)) return { conflicts };
      if (token === undefined) return { release: () => {} };
      for (const item of items) held.add(item);
      return {
        release: () => {
          for (const item of items) held.delete(item);
        },
      };
    },
  };
}
