import { isDeeper } from '../../../lib/contract/depth.ts';
import type { ModelRequest } from './converse-client.ts';

/** The result of a call, with the name of its tool. */
type NamedResult = { tool: string; output: string };

/** Where a conversation with tools is. */
export type Conversation = {
  /** The number of the next message of the model, from 1. */
  step: number;
  /** The results of all calls so far, in the order of the calls. */
  results: NamedResult[];
  /** The results of the calls of the previous message of the model. */
  latest: NamedResult[];
};

/** Returns where the conversation of a request is. */
export function conversationOf({ later }: ModelRequest): Conversation {
  const turns = later.flatMap((message) => (message.role === 'assistant' ? [message.calls] : []));
  const outputs = new Map<string, string>();
  const named = turns.map((calls, at) => {
    const answered = later[at * 2 + 1];
    for (const { id, output } of answered?.role === 'user' ? answered.results : []) outputs.set(id, output);
    return calls.map(({ id, name }) => ({ tool: name, output: outputs.get(id) ?? '' }));
  });
  return { step: turns.length + 1, results: named.flat(), latest: named.at(-1) ?? [] };
}

/** The values that the calls and the text of a rule can use. */
export type Values = {
  /** The match of a rule in the first user message, and its groups. */
  match: readonly string[];
  results: readonly NamedResult[];
};

/** The deepest value that has references, in levels. */
const deepest = 1_000;

/** A reference: `match` and a group, or `results`, the number of a result from 0, and the path of a value in its JSON. */
const reference = /\{\{(match|results)\.(\d+)((?:\.[\w-]+)*)\}\}/;

/**
 * Replaces references such as `{{results.0.id}}` and `{{match.1}}` in all texts of a value. A text that is only a
 * reference becomes the referenced value. A reference without a value stays as it is, and so does a value that is nested
 * deeper than a recursive function can read.
 */
export function withValues<Value>(value: Value, values: Values): Value {
  return isDeeper(value, deepest) ? value : (replaced(value, values) as Value);
}

function replaced(value: unknown, values: Values): unknown {
  if (Array.isArray(value)) return value.map((item) => replaced(item, values));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replaced(inner, values)]));
  if (typeof value !== 'string') return value;
  const [whole, source = '', number = '', path = ''] = reference.exec(value) ?? [];
  if (whole === value) return referencedValue(values, source, number, path) ?? value;
  return value.replace(new RegExp(reference, 'g'), (found, source: string, number: string, path: string) => {
    const inner = referencedValue(values, source, number, path);
    if (inner === undefined) return found;
    return typeof inner === 'string' ? inner : JSON.stringify(inner);
  });
}

function referencedValue({ match, results }: Values, source: string, number: string, path: string): unknown {
  const result = results[Number(number)];
  let value: unknown = source === 'match' ? match[Number(number)] : result && parsed(result.output);
  for (const name of path.split('.').slice(1))
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined;
  return value;
}

/** Returns the value of JSON; a text that is no JSON is its own value. */
function parsed(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return output;
  }
}
