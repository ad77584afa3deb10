/**
 * Returns the output of a command in a form that can be compared: sets as sorted lists, numbers without exponents, without
 * metadata. DynamoDB Local returns the capacity of a delete that nobody has asked for.
 */
export function comparableOutput(output: object, tableName: string): unknown {
  const { $metadata, ConsumedCapacity, ...rest } = output as Record<string, unknown>;
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
    .map(([name, one]) => [name === tableName ? 'table' : name, comparable(inOneForm(name, one), tableName)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Sets in the form of DynamoDB's interface have no order, and its numbers no exponents, which DynamoDB Local writes. */
function inOneForm(name: string, value: unknown): unknown {
  const isNumber = name === 'N' || name === 'NS';
  if (name === 'N' && typeof value === 'string') return withoutExponent(value);
  if ((name === 'SS' || isNumber) && Array.isArray(value))
    return value.map((one) => (isNumber ? withoutExponent(one) : one)).sort();
  return value;
}

function withoutExponent(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const point = whole.length + Number(exponent);
  const digits = (whole + fraction)
    .padEnd(point, '0')
    .padStart(whole.length + fraction.length + Math.max(0, 1 - point), '0');
  const at = Math.max(1, point);
  const decimals = digits.slice(at).replace(/0+$/, '');
  return sign + digits.slice(0, at) + (decimals && `.${decimals}`);
}

/** Returns the result of a command with its items by their content, where the engine decides their order. */
export function inOrder(output: Record<string, unknown>): Record<string, unknown> {
  const sorted = (items: unknown) =>
    Array.isArray(items) ? items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items;
  const { Items, Responses } = output as { Items?: object[]; Responses?: Record<string, object[]> };
  const responses = Responses && Object.entries(Responses).map(([name, items]) => [name, sorted(items)]);
  return {
    ...output,
    ...(Items && { Items: sorted(Items) }),
    ...(responses && { Responses: Object.fromEntries(responses) }),
  };
}
