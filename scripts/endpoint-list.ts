import { basename } from 'node:path';
import { ascending } from '../lib/contract/texts/order.ts';

/** The files of endpoints in the order in which the OpenAPI document lists them. Other files follow. */
const order = [
  'tasks',
  'agents',
  'executions',
  'execution-control',
  'agent-metrics',
  'improvements',
  'skills',
  'webhooks',
  'event-log',
  'me',
  'open',
  'console',
];

/** Returns the names of the endpoints that a source defines, in their order. */
function rowsOf(source: string): string[] {
  return [...source.matchAll(/^export const (\w+) = endpoint\(/gm)].map((match) => match[1] as string);
}

/**
 * Returns an error message for each endpoint without an API reference.
 *
 * @param sources the sources of the contract's files by their paths in it
 */
export function rowsWithoutReference(sources: Readonly<Record<string, string>>): string[] {
  return Object.entries(sources).flatMap(([file, source]) =>
    rowsOf(source)
      .filter((row) => !source.includes(`export const ${row}Reference = `))
      .map((row) => `The row ${row} has no API reference; export ${row}Reference in lib/contract/${file}.`),
  );
}

/** Returns the identifier for a file: `agentMetrics` for `agents/agent-metrics.ts`. */
const identifierOf = (file: string) =>
  basename(file, '.ts').replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const placeOf = (file: string) => {
  const place = order.indexOf(basename(file, '.ts'));
  return place === -1 ? order.length : place;
};

/**
 * Returns the source of `lib/contract/endpoints.ts`: the list of all endpoints in the contract.
 *
 * @param sources the sources of the contract's files by their paths in it
 */
export function endpointListSource(sources: Readonly<Record<string, string>>): string {
  const files = Object.entries(sources)
    .map(([file, source]) => ({ file, rows: rowsOf(source) }))
    .filter(({ rows }) => rows.length > 0)
    .sort((a, b) => placeOf(a.file) - placeOf(b.file) || ascending(basename(a.file), basename(b.file)));
  const imports = [
    ...files.map(({ file }) => `import * as ${identifierOf(file)} from './${file}';`),
    "import type { Endpoint } from './endpoint.ts';",
  ];
  const path = (line: string) => line.split("'")[1] as string;
  const listed = (suffix: string) =>
    files.flatMap(({ file, rows }) => rows.map((row) => `  ${row}: ${identifierOf(file)}.${row}${suffix},`)).join('\n');
  return `// Generated from the files of this folder by \`npm run generate\`. Change them, not this file.

${imports.sort((a, b) => ascending(path(a), path(b))).join('\n')}

/** All endpoints by their operation ids, in the order of the OpenAPI document. */
export const endpoints = {
${listed('')}
} as const satisfies Record<string, Endpoint>;

/** The API references of all endpoints by their operation ids. */
export const references = {
${listed('Reference')}
} as const;
`;
}
