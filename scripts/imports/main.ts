import { globSync, readFileSync } from 'node:fs';
import { wrongImports } from './check-imports.ts';
import { circularRooms } from './circles.ts';
import { fullFolders } from './full-folders.ts';
import { importTable } from './import-table.ts';

/**
 * Names each import that the table of imports does not allow, each circle of rooms, and each folder with too many files, and
 * ends with 1 if there is one.
 */

const paths = globSync('{docs,functions,infra,lib,scripts}/**/*.{ts,tsx}').sort();
const files = paths.map((path) => [path, readFileSync(path, 'utf8')] as const);
const messages = [
  ...wrongImports(importTable, files),
  ...circularRooms(files).map((rooms) => `These rooms import each other: ${rooms.join(', ')}.`),
  ...fullFolders(globSync('{docs/examples,functions,infra,lib,scripts,test}/**/*.*')),
];
if (messages.length > 0) {
  console.error(messages.join('\n'));
  process.exit(1);
}
