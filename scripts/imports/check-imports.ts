import { importsOf } from './imports-of.ts';

/** A file of the project: its path from the top of the project, and its text. */
type File = readonly [path: string, text: string];

/**
 * Compares the imports of files with the table of imports.
 *
 * @param table see `importTable`
 * @param files all files that the table is about
 * @returns an error message for each import that the row of its file does not have, for each entry that no file needs, and
 *   for each file without a row
 */
export function wrongImports(table: Readonly<Record<string, string>>, files: readonly File[]): string[] {
  const rows = Object.entries(table)
    .map(([name, entries]) => ({ name, entries: entries.split(' ').filter(Boolean), used: new Set<string>() }))
    .sort((a, b) => b.name.length - a.name.length);
  const messages: string[] = [];
  for (const [file, text] of files) {
    const row = rows.find(({ name }) => isBelow(file, folderOf(name)));
    if (row === undefined) {
      messages.push(`${file} has no row in scripts/imports/import-table.ts: add one for its folder.`);
      continue;
    }
    for (const target of new Set(importsOf(file, text))) {
      const entry = row.entries.find((each) => isMeant(each, target));
      if (entry !== undefined) row.used.add(entry);
      else if (row.name.endsWith('/*') || !isBelow(target, row.name)) messages.push(messageOf(file, target, row.name));
    }
  }
  const unused = rows.flatMap(({ name, entries, used }) =>
    entries
      .filter((entry) => !used.has(entry))
      .map((entry) => `No file of the row '${name}' imports ${entry}: take it out of scripts/imports/import-table.ts.`),
  );
  return [...messages, ...unused];
}

function messageOf(file: string, target: string, row: string): string {
  return `${file} imports ${target}, which the row '${row}' of scripts/imports/import-table.ts does not allow.`;
}

function folderOf(name: string): string {
  return name.replace(/\/\*$/, '');
}

/** Whether a path is a folder or file, or below it. */
function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function isMeant(entry: string, target: string): boolean {
  return entry.endsWith('*') ? target.startsWith(entry.slice(0, -1)) : isBelow(target, entry);
}
