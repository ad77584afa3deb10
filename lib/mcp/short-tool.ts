import type { Tool } from '@modelcontextprotocol/server';
import { shortened } from '../contract/texts/code-points.ts';
import type { OperationTool } from '../tools/tool-list.ts';

/**
 * The maximum lengths of the descriptions of a tool and of an argument, in code points. They are the first sentences of those in the
 * API reference, which has the whole texts.
 */
const longestDescription = 140;
const longestArgument = 90;

/** The hints of a tool that has none, by the protocol. */
const defaultHints = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

/**
 * What a schema says besides its types. A call is checked with it anyway, and its error says what is wrong; the result of a call
 * shows what the service has put in place of what was left out.
 */
const leftOut = [
  ...['examples', 'pattern', 'format', 'default', 'uniqueItems', 'additionalProperties'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum'],
];

/** Descriptions that the names of the tool and of the argument say already. */
const obvious = new RegExp(
  `^(${[
    'Id of an? [\\w ]+',
    'Name of an agent, in kebab-case',
    'Name of the agent that the task is assigned to',
    'Short summary of the task',
    'Only tasks (with|of) this \\w+',
    'Only tasks that are assigned to the agent with this name(, which may be deleted)?',
    'Only tasks that wait for a review: .*',
    'Return only \\w+ (with|of) this \\w+',
    'Return only executions of the agent that currently has this name',
    'What to add to the \\w+, separated by commas',
    'The field that the tasks are counted by',
    'The instruction for the agent',
    'A note',
    'Page size',
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
    description: firstSentence(description.replace(`${title}. `, ''), longestDescription),
    inputSchema: shortSchema(inputSchema) as Tool['inputSchema'],
    annotations,
  };
}

/** Returns the first sentence of a text. One of more than this many code points ends at its first colon or semicolon, or is cut. */
function firstSentence(text: string, most: number): string {
  const starts = [/(?<=\.)\s+/, /(?<=[.:;])\s+/].map((end) => text.split(end)[0] as string);
  const whole = starts.find((start) => [...start].length <= most);
  return (whole ?? shortened(text, most - 1)).replace(/[:;]$/, '.');
}

/** Returns a schema without the rules that are left out. The members of `properties` are schemas by their own names. */
function shortSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
      if (leftOut.includes(keyword)) return [];
      if (keyword === 'description') {
        const sentence = firstSentence(String(value), longestArgument);
        return obvious.test(sentence) ? [] : [[keyword, sentence]];
      }
      if (keyword === 'properties') {
        const properties = Object.entries(value as Record<string, Record<string, unknown>>);
        return [[keyword, Object.fromEntries(properties.map(([name, one]) => [name, shortSchema(one)]))]];
      }
      if (keyword === 'anyOf') return [[keyword, (value as Record<string, unknown>[]).map(shortSchema)]];
      return [[keyword, keyword === 'items' ? shortSchema(value as Record<string, unknown>) : value]];
    }),
  );
}
