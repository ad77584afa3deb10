import type { Tool } from '@modelcontextprotocol/server';
import { shortened } from '../contract/code-points.ts';
import type { OperationTool } from '../tools/tool-list.ts';

/** The maximum lengths of the descriptions of a tool and of an argument, in code points. The API reference has the whole texts. */
const longestDescription = 140;
const longestArgument = 90;

/** The hints of a tool that has none, by the protocol. */
const defaultHints = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

/** What a schema says besides its types, which a call is checked with anyway. Its error says what is wrong. */
const leftOut = [
  ...[
    'examples',
    'pattern',
    'format',
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
    'uniqueItems',
    'minimum',
    'maximum',
  ],
  'additionalProperties',
];

/** Descriptions that the names of the tool and of the argument say already. */
const obvious = new RegExp(
  `^(${[
    'Id of an? [\\w ]+',
    'Name of an agent, in kebab-case',
    'Only tasks (with|of) this \\w+',
    'Only tasks that are assigned to the agent with this name(, which may be deleted)?',
    'Page size\\. A value above 100 counts as 100',
    'Number of items to skip, starting with the newest',
  ].join('|')})\\.$`,
);

/**
 * Returns a tool as clients list it. A model reads the list before its first question, so it has short descriptions, and no rule
 * that an error explains as well.
 */
export function shortTool({ name, title, description, inputSchema, hints }: OperationTool): Tool {
  const annotations = Object.fromEntries(
    Object.entries(hints).filter(([hint, value]) => {
      // Of a tool that only reads, nobody asks what it destroys or repeats.
      if (hints.readOnlyHint && ['destructiveHint', 'idempotentHint'].includes(hint)) return false;
      // What destroys says so also to a client that does not know the defaults.
      return value !== defaultHints[hint as keyof typeof hints] || hint === 'destructiveHint';
    }),
  );
  return {
    name,
    title,
    description: firstSentences(description.replace(`${title}. `, ''), longestDescription),
    inputSchema: shortSchema(inputSchema) as Tool['inputSchema'],
    annotations,
  };
}

/** Returns the first sentences of a text that have at most this many code points together; a cut one if the first is longer. */
function firstSentences(text: string, most: number): string {
  const sentences = text.split(/(?<=[.:;])\s+/);
  const fitting = sentences
    .map((_, at) => sentences.slice(0, at + 1).join(' '))
    .filter((start) => [...start].length <= most);
  return (fitting.at(-1) ?? shortened(text, most - 1)).replace(/[:;]$/, '.');
}

/** Returns a schema without the rules that are left out. The members of `properties` are schemas by their own names. */
function shortSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
      if (leftOut.includes(keyword)) return [];
      if (keyword === 'description' && obvious.test(String(value))) return [];
      if (keyword === 'description') return [[keyword, firstSentences(String(value), longestArgument)]];
      if (keyword === 'properties') {
        const properties = Object.entries(value as Record<string, Record<string, unknown>>);
        return [[keyword, Object.fromEntries(properties.map(([name, one]) => [name, shortSchema(one)]))]];
      }
      if (keyword === 'anyOf') return [[keyword, (value as Record<string, unknown>[]).map(shortSchema)]];
      return [[keyword, keyword === 'items' ? shortSchema(value as Record<string, unknown>) : value]];
    }),
  );
}
