import { Invalid, Unsupported } from '../errors.ts';
import { setAttribute, type TableItem, type Value } from '../values/values.ts';
import { createCache } from './cache.ts';
import { nameOf, type Placeholders, parsePath } from './operands.ts';
import { expectEnd, type Tokens, take, tokensOf } from './tokens.ts';

/** A parsed projection of attributes of the first level, with the placeholders that it uses. */
export type Projection = {
  kind: 'ProjectionExpression';
  parts: readonly string[];
  names: ReadonlySet<string>;
  values: ReadonlySet<string>;
};

const parsed = createCache<Projection>();

/**
 * Parses a projection. Each text is parsed once.
 *
 * @throws `Invalid` for a syntax error; `Unsupported` for a nested attribute
 */
export function parseProjection(text: string): Projection {
  return parsed(text, () => {
    const tokens = tokensOf('ProjectionExpression', text);
    const parts = [parsePart(tokens)];
    while (take(tokens, ',')) parts.push(parsePart(tokens));
    expectEnd(tokens);
    return { kind: 'ProjectionExpression', parts, names: tokens.names, values: tokens.values };
  });
}

function parsePart(tokens: Tokens): string {
  const path = parsePath(tokens);
  if (path.length > 1) throw new Unsupported(`the projection of a nested attribute: ${tokens.text}`);
  return path[0] as string;
}

/**
 * Returns the names of the attributes of a projection.
 *
 * @throws `Invalid` if one is named twice
 */
export function projectedNames({ parts }: Projection, placeholders: Placeholders): string[] {
  const names = parts.map((part) => nameOf(part, placeholders));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new Invalid(
      `Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [${twice}], path two: [${twice}]`,
    );
  return names;
}

/** Returns an item with only these attributes. */
export function projected(item: TableItem, names: readonly string[]): TableItem {
  const part: TableItem = {};
  for (const name of names) if (Object.hasOwn(item, name)) setAttribute(part, name, item[name] as Value);
  return part;
}
