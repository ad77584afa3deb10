import type { Endpoint } from '../lib/contract/endpoint.ts';
import { fileNameOf, functionFolderOf, functionNameOf } from '../lib/contract/routes.ts';

/** Function files without an endpoint: of the `$default` route, of the pipeline, and of the check of a deploy. */
const withoutRow = /^functions\/(open\/unmatched|pipeline\/[\w-]+|deployment\/check-functions)\.ts$/;

/**
 * Returns an error message for each endpoint without a function and each function without an endpoint.
 *
 * @param rows all endpoints by their operation ids
 * @param functionFiles all files below `functions`, as `functions/<folder>/<file>.ts`
 */
export function unmatchedFunctions(
  rows: Readonly<Record<string, Pick<Endpoint, 'path' | 'servedBy'>>>,
  functionFiles: readonly string[],
): string[] {
  const expected = Object.entries(rows).map(([operation, row]) => ({
    operation,
    file: `functions/${functionFolderOf(row)}/${fileNameOf(functionNameOf(operation, row))}.ts`,
  }));
  const missing = expected.filter(({ file }) => !functionFiles.includes(file));
  const known = new Set(expected.map(({ file }) => file));
  const extra = functionFiles.filter((file) => !known.has(file) && !withoutRow.test(file));
  return [
    ...missing.map(({ operation, file }) => `The row ${operation} has no function; add ${file}.`),
    ...extra.map((file) => `${file} has no row; declare one of its name in lib/contract, or delete the file.`),
  ];
}
