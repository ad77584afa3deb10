import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { eventRows } from '../lib/contract/webhooks/events.ts';
import { endpointListSource, rowsWithoutReference } from './endpoint-list.ts';
import { withGeneratedPart } from './generated-part.ts';
import { incompleteEvents } from './incomplete-events.ts';

/**
 * `npm run generate` writes the files that are generated from the contract and the functions; with `--check` it only compares them. It
 * exits with status 1, and lists each file that is out of date, each endpoint without an API reference or a function,
 * each function without an endpoint, and what the row of an event does not have.
 */
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

/** Prints the problems and exits with status 1 if there are any. */
function report(problems: readonly string[]): void {
  if (problems.length === 0) return;
  console.error(problems.join('\n'));
  process.exit(1);
}

/** Writes a generated file, or compares it and returns the problems. */
function generate(file: string, content: string): string[] {
  if (values.check)
    return readFileSync(file, 'utf8') === content ? [] : [`${file} is out of date; run npm run generate.`];
  writeFileSync(file, content);
  return [];
}

/** Returns a source in the format that the linter asks for. */
function formatted(file: string, source: string): string {
  return execFileSync('node_modules/.bin/biome', ['format', `--stdin-file-path=${file}`], {
    input: source,
    encoding: 'utf8',
  });
}

const sources: Record<string, string> = Object.fromEntries(
  globSync('**/*.ts', { cwd: 'lib/contract' }).map((file) => [file, readFileSync(`lib/contract/${file}`, 'utf8')]),
);
report([...rowsWithoutReference(sources), ...incompleteEvents(eventRows)]);
report(generate('lib/contract/endpoints.ts', endpointListSource(sources)));

// Imported only here, since all of these import the generated list of endpoints.
const { endpoints } = await import('../lib/contract/endpoints.ts');
const { openApiDocument } = await import('../lib/openapi/document.ts');
const { clientSource, deliverySource } = await import('../lib/openapi/typescript.ts');
const { mcpFunctionSource } = await import('./mcp-function.ts');
const { functionVariablesSource } = await import('./function-variables.ts');
const { unmatchedFunctions } = await import('./unmatched-functions.ts');

const verifier = 'lib/client/verify-webhook.ts';
const document = openApiDocument();
report([
  ...generate('functions/mcp/mcp.ts', mcpFunctionSource()),
  ...generate('docs/openapi.json', `${JSON.stringify(document, null, 2)}\n`),
  ...generate('lib/client/operations.ts', clientSource(document)),
  ...generate(
    verifier,
    formatted(verifier, withGeneratedPart(readFileSync(verifier, 'utf8'), deliverySource(document))),
  ),
  ...unmatchedFunctions(endpoints, globSync('functions/*/*.ts')),
]);
// Last: it bundles the functions, of which one is generated.
report(generate('infra/aws/functions/function-variables.ts', await functionVariablesSource()));
