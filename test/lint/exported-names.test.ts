import { globSync, readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { expect, it } from 'vitest';

/** Returns the names that a file declares and exports. */
function exportedNames(file: string): string[] {
  return parseSync(file, readFileSync(file, 'utf8')).program.body.flatMap((statement) => {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null;
    if (declaration === null) return [];
    if (declaration.type === 'VariableDeclaration')
      return declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []));
    return 'id' in declaration && declaration.id?.type === 'Identifier' ? [declaration.id.name] : [];
  });
}

it('an exported name has one meaning: only a row of the contract, its function and its behaviour share one', () => {
  // The client is code that users copy, and the console an application of its own.
  const files = globSync('{functions,infra,lib,scripts}/**/*.{ts,tsx}', {
    exclude: ['lib/client/**', 'lib/console/**'],
  });
  expect(files.length).toBeGreaterThan(300);
  const tierOf = (file: string) => /^(lib\/contract|functions)\//.exec(file)?.[1] ?? 'behaviour';
  const places = new Map<string, Set<string>>();
  for (const file of files)
    for (const name of exportedNames(file)) {
      const key = `${name} in ${tierOf(file)}`;
      places.set(key, (places.get(key) ?? new Set()).add(file));
    }
  const repeated = [...places].filter(([key, { size }]) => size > 1 && key !== 'handler in functions');
  expect(repeated.map(([key, found]) => `${key}: ${[...found].sort().join(', ')}`)).toEqual([]);
});
