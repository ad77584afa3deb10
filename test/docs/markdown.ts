/** Returns the text under a heading of a page, up to the next heading of the same or a higher level. */
export function sectionOf(page: string, heading: string): string {
  const [, after] = page.split(`\n${heading}\n`);
  if (after === undefined) throw new Error(`The page has no ${heading}.`);
  const level = /^#+/.exec(heading)?.[0].length ?? 1;
  const prose = after.replaceAll(/^```.*?^```$/gms, (block) => block.replaceAll(/^#/gm, '\0'));
  return (prose.split(new RegExp(`^#{1,${level}} `, 'm'))[0] as string).replaceAll('\0', '#');
}

/** Returns the code blocks of a language in a text, in their order. */
export function blocksOf(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , code = '']) => code);
}

/** Returns the first column of the first table in a text, without the head. */
export function firstColumnOf(text: string): string[] {
  const table = /(?:^\|.*\|\n)+/m.exec(text)?.[0] ?? '';
  const rows = table.trimEnd().split('\n').slice(2);
  return rows.map((row) => row.split('|')[1]?.trim() as string);
}
