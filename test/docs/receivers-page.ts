import { readFileSync } from 'node:fs';

/** The page for those who receive webhooks. */
export const page = readFileSync('docs/receiving-webhooks.md', 'utf8');

/** The code blocks of the page in a language, in the page's order. */
export function blocksOf(language: string): string[] {
  return [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, at]) => at === language)
    .map(([, , text]) => text ?? '');
}
