import { readFileSync } from 'node:fs';
import { blocksOf as blocksOfText } from '../markdown.ts';

/** The page for owners of receivers. */
export const page = readFileSync('docs/receiving-webhooks.md', 'utf8');

/** Returns the code blocks of the page in a language, in their order. */
export const blocksOf = (language: string) => blocksOfText(page, language);
