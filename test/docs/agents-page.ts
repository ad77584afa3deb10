import { readFileSync } from 'node:fs';
import { blocksOf, sectionOf as sectionOfPage } from './markdown.ts';

/** The page on agents. */
export const page = readFileSync('docs/agents.md', 'utf8');

/** Returns the text under a heading of the page on agents. */
export const sectionOf = (heading: string) => sectionOfPage(page, heading);

const walkthrough = sectionOf('### An example');
const [script = '', ...answers] = blocksOf(walkthrough, 'json');

/** The example: the rules for the simulator, the commands, and the response to each command. */
export const example = { script, commands: blocksOf(walkthrough, 'sh'), answers };
