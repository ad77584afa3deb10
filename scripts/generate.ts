import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { endpointListSource, rowsWithoutWords } from './endpoint-list.ts';

/**
 * `npm run generate` writes the files that are made from the contract; with `--check` it compares them. It ends with 1, and
 * names each file that is out of date, each row without words or a function, and each function without a row.
 */
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

/** Ends with 1 if something is wrong. */
function report(faults: readonly string[]): void {
  if (faults.length === 0) return;
  console.error(faults.join('\n'));
  process.exit(1);
}

/** Writes a generated file, or compares it; returns what is wrong with it. */
function generate(file: string, content: string): string[] {
  if (values.check)
    return readFileSync(file, 'utf8') === content ? [] : [`${file} is out of date; run npm run generate.`];
  writeFileSync(file, content);
  return [];
}

const sources: Record<string, string> = Object.fromEntries(
  globSync('lib/contract/*.ts').map((file) => [basename(file, '.ts'), readFileSync(file, 'utf8')]),
);
report(rowsWithoutWords(sources));
report(generate('lib/contract/endpoints.ts', endpointListSource(sources)));

// Loaded only now, since all of them read the list of endpoints.
const { endpoints } = await import('../lib/contract/endpoints.ts');
const { openApiDocument } = await import('../lib/openapi/document.ts');
const { clientSource } = await import('../lib/openapi/typescript.ts');
const { unmatchedFunctions } = await import('./unmatched-functions.ts');

const document = openApiDocument();
report([
  ...generate('docs/openapi.json', `${JSON.stringify(document, null, 2)}\n`),
  ...generate('lib/client/operations.ts', clientSource(document)),
  ...unmatchedFunctions(endpoints, globSync('functions/*/*.ts')),
]);
