import { globSync, readFileSync } from 'node:fs';
import { wrongImports } from './check-imports.ts';
import { importTable } from './import-table.ts';

/** Names each import that the table of imports does not allow, and ends with 1 if there is one. */

const files = globSync('{docs,functions,infra,lib,scripts}/**/*.{ts,tsx}').sort();
const messages = wrongImports(
  importTable,
  files.map((file) => [file, readFileSync(file, 'utf8')]),
);
if (messages.length > 0) {
  console.error(messages.join('\n'));
  process.exit(1);
}
