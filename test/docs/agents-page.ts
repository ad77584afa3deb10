import { readFileSync } from 'node:fs';

/** The page on agents. */
export const page = readFileSync('docs/agents.md', 'utf8');

/** What stands under a heading, up to the next of its level or above. */
export function sectionOf(heading: string): string {
  const [, after] = page.split(`\n${heading}\n`);
  if (after === undefined) throw new Error(`The page has no ${heading}.`);
  const level = /^#+/.exec(heading)?.[0].length ?? 1;
  return after.split(new RegExp(`^#{1,${level}} `, 'm'))[0] as string;
}

/** The blocks of code of a language in a text, in their order. */
function blocksOf(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, code]) => code as string);
}

/** The first facets of the rows of the first table in a text, the heading left out. */
export function firstCellsOf(text: string): string[] {
  const table = /(?:^\|.*\|\n)+/m.exec(text)?.[0] ?? '';
  const rows = table.trimEnd().split('\n').slice(2);
  return rows.map((row) => row.split('|')[1]?.trim() as string);
}

const [script = '', ...answers] = blocksOf(sectionOf('### An example'), 'json');

/** The example: the simulator's script, the commands, and what each of them is said to answer. */
export const example = { script, commands: blocksOf(sectionOf('### An example'), 'sh'), answers };
