import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { runWithRequest } from '../../lib/table/access/current-request.ts';
import type { CommandRequest, Terminal } from '../local/commands/messages.ts';
import type { ServiceAccess } from '../local/deployment.ts';
import { backup } from './commands/backup.ts';
import { deadLetters } from './commands/dead-letters.ts';
import { operatorDeliveries } from './commands/deliveries.ts';
import { moveModel } from './commands/move-model.ts';
import { orgs } from './commands/organizations.ts';
import { reconcile } from './commands/reconcile.ts';
import { settings } from './commands/settings.ts';
import { token } from './commands/token.ts';
import { localTargets } from './dead-letters/redrive-targets.ts';
import { servedTerminal, serveOperation } from './operation.ts';
import { operatorErrorText } from './operator-errors.ts';
import { exitCodes, runProgram } from './run-program.ts';

/** The commands that a service runs for operators, by their names below the program. */
const served = new Map<string, CommandUnknownOpts>([
  ...[token, orgs, settings, deadLetters, operatorDeliveries, reconcile, backup].flatMap((command) =>
    leavesOf(command),
  ),
  ['agents move-model', moveModel],
]);

function leavesOf(command: CommandUnknownOpts, prefix = ''): [string, CommandUnknownOpts][] {
  const name = prefix + command.name();
  if (command.commands.length === 0) return [[name, command]];
  return command.commands.flatMap((inner) => leavesOf(inner, `${name} `));
}

// The parser prints its own errors on the terminal of the operator.
for (const command of served.values())
  command.configureOutput({
    writeErr: (text) => {
      const terminal = servedTerminal();
      if (terminal) terminal.printError(text.trimEnd());
      else process.stderr.write(text);
    },
  });

/** The names of the commands that a service runs for operators. */
export const servedNames: readonly string[] = [...served.keys()];

/** Runs a command in the process of the service. Prints its errors on the terminal, and sets its exit code. */
export async function runServedCommand(
  { context, queues, backup: backUpTable }: ServiceAccess,
  { command: name, args, folder }: CommandRequest,
  terminal: Terminal,
): Promise<void> {
  const command = served.get(name);
  if (!command) {
    terminal.printError(
      `The service does not know the command ${JSON.stringify(name)}; it may run another version. Restart it, and run the command again.`,
    );
    return terminal.exit(exitCodes.failed);
  }
  const operation = {
    terminal,
    folder,
    createContext: async () => context,
    findTargets: async () => localTargets(queues),
    backUpTable,
  };
  const parse = () => command.parseAsync(args, { from: 'user' });
  await runWithRequest({}, () =>
    serveOperation(operation, () => runProgram({ parseAsync: parse }, operatorErrorText, terminal)),
  );
}
