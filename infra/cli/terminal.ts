import type { Terminal } from '../local/commands/messages.ts';
import { startProgress } from './progress.ts';
import { processOutput } from './run-program.ts';

/** The terminal of this process. */
export const processTerminal: Terminal = { ...processOutput, print: (text) => console.log(text), startProgress };
