/** Returns the output of a command in a form that can be compared: sets as sorted lists, without metadata. */
export function comparableOutput(output: object, tableName: string): unknown {
  const { $metadata, ...rest } = output as Record<string, unknown>;
  return comparable(rest, tableName);
}

/** Returns what callers know of an error: its name, and the reasons of a transaction or the stored item. */
export function comparableError(error: unknown, tableName: string): unknown {
  const { name, Item, CancellationReasons } = error as { name: string; Item?: unknown; CancellationReasons?: object[] };
  const reasons = CancellationReasons?.map((reason) => ({ ...reason, Message: undefined }));
  return comparable({ error: name, Item, reasons }, tableName);
}

function comparable(value: unknown, tableName: string): unknown {
  if (value instanceof Set) return { set: [...value].map(String).sort() };
  if (typeof value === 'bigint') return { number: String(value) };
  if (Array.isArray(value)) return value.map((one) => comparable(one, tableName));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([name, one]) => [name === tableName ? 'table' : name, comparable(sortedSet(name, one), tableName)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Sets in the form of DynamoDB's interface have no order either. */
const sortedSet = (name: string, value: unknown) =>
  (name === 'SS' || name === 'NS') && Array.isArray(value) ? [...value].sort() : value;

/** Returns a whole page of a scan with its items by key: the engine decides the order of a scan. */
export function inKeyOrder(output: object): object {
  const order = ({ pk, sk }: Record<string, unknown>) => JSON.stringify([pk, sk]);
  const { Items: found } = output as { Items?: Record<string, unknown>[] };
  const Items = found?.toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
  return { ...output, ...(Items && { Items }) };
}
