import { tableSchema } from '../../lib/deployment/table-schema.ts';

/** A write of DynamoDB's as it is on the wire, as far as it says which item it is of. */
type ItemWrite = { TableName: string; Key?: WireKey; Item?: WireKey };
type WireKey = Record<string, { S: string }>;
type Transaction = { TransactItems: Record<string, ItemWrite>[]; ClientRequestToken: string };

/** What a request writes to: the names of its items in its order; of a transaction the token that its tries share. */
export type Writes = { items: string[]; token?: string };

/** What a request to DynamoDB writes; `undefined` for one that neither holds items nor minds those that are held. */
export function writesOf(action: string, body: string): Writes | undefined {
  if (/^(Put|Update|Delete)Item$/.test(action)) return { items: [nameOf(JSON.parse(body) as ItemWrite)] };
  if (action !== 'TransactWriteItems') return undefined;
  const { TransactItems, ClientRequestToken: token } = JSON.parse(body) as Transaction;
  // A ConditionCheck is of its item as much as a write.
  return { items: TransactItems.map((one) => nameOf(Object.values(one)[0] as ItemWrite)), token };
}

function nameOf({ TableName, Key, Item }: ItemWrite): string {
  const key = (Key ?? Item) as WireKey;
  return JSON.stringify([TableName, key[tableSchema.partitionKey]?.S, key[tableSchema.sortKey]?.S]);
}

/** The partition of an item that `writesOf` has named. */
export function partitionOf(item: string): string {
  return (JSON.parse(item) as string[])[1] as string;
}

/** What taking the items of a request comes to: they are its own until it lets them go, or these were another's. */
type Taken = { release: () => void } | { conflicts: boolean[] };

/**
 * The items that transactions under way hold, by DynamoDB's rules: a transaction conflicts with another that is under
 * way on one of its items, whatever either does with it, and so does a single write; a single write holds nothing, for
 * others wait for it. A transaction that is cancelled holds nothing: of what it holds until then DynamoDB promises nothing.
 */
export function openItemLocks() {
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
