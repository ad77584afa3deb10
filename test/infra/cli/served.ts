import { runServedCommand } from '../../../infra/cli/served-commands.ts';
import type { Terminal } from '../../../infra/local/commands/messages.ts';
import type { ServiceAccess } from '../../../infra/local/deployment.ts';
import type { Result } from './in-process.ts';

/** A terminal that records what is printed on it. Progress is recorded apart. */
export function recordingTerminal(): { terminal: Terminal; result: Result; progress: string[] } {
  const result: Result = { code: 0, stdout: '', stderr: '' };
  const progress: string[] = [];
  const terminal: Terminal = {
    print: (text) => {
      result.stdout += `${text}\n`;
    },
    printError: (text) => {
      result.stderr += `${text}\n`;
    },
    startProgress: (first) => {
      progress.push(first);
      return { report: (text) => void progress.push(text), end: () => void progress.push('end') };
    },
    exit: (code) => {
      result.code = code;
    },
  };
  return { terminal, result, progress };
}

/** Runs a command as a service does for an operator. */
export async function runServed(access: ServiceAccess, command: string, ...args: string[]): Promise<Result> {
  const { terminal, result } = recordingTerminal();
  await runServedCommand(access, { command, args, folder: process.cwd() }, terminal);
  return result;
}
