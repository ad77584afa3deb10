import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, createContext } from '../../lib/context/context.ts';
import { environment } from '../../lib/names/environment.ts';
import { createStackContext } from '../aws/deployed/stack.ts';
import { connectToService, runInService } from '../local/commands/command-client.ts';
import type { CommandRequest, Terminal } from '../local/commands/messages.ts';
import { type LocalContext, openLocalContext } from '../local/local-context.ts';
import { readLocalSettings } from '../local/settings.ts';
import { Problem } from '../problem.ts';
import { findStackTargets, type RedriveTargets } from './dead-letters/redrive-targets.ts';
import { startProgress } from './progress.ts';
import { processOutput } from './run-program.ts';

/** What a command of operators gets: the terminal of the operator, and the deployment that it works on. */
export type OperatorOperation = {
  terminal: Terminal;
  /** The working folder of the operator, to which paths are relative. */
  folder: string;
  /**
   * Creates the context of the deployment.
   *
   * @throws `Problem` if there is no such deployment
   */
  createContext: () => Promise<Context>;
  /**
   * Finds the queues of the deployment.
   *
   * @throws `Problem` if there are none
   */
  findTargets: () => Promise<RedriveTargets>;
  /** Copies the table to a new file; absent for a table that is not in a data folder. */
  backUpTable?: ((path: string) => Promise<void>) | undefined;
};

/** The operation of a command that runs in a service; none in the process of a command. */
const servedOperation = new AsyncLocalStorage<OperatorOperation>();

/** Runs a command in a service: the functions that `operate` has created then work on its deployment. */
export function serveOperation<Result>(operation: OperatorOperation, act: () => Result): Result {
  return servedOperation.run(operation, act);
}

/** Returns the terminal of the command that runs in a service; `undefined` in the process of a command. */
export function servedTerminal(): Terminal | undefined {
  return servedOperation.getStore()?.terminal;
}

/** A command line of a command, which the parser passes last. */
type ParsedCommand = {
  name: () => string;
  args: readonly string[];
  parent: ParsedCommand | null;
  opts: () => { stack?: string; table?: string };
};

/**
 * Returns the action of a command of operators, for the parser. It runs the command on a stack or a table in AWS if the
 * options name one. Otherwise it sends the command to the service that runs on this machine, which runs it in its own
 * process. If none is running, it runs the command here, on the data folder.
 */
export function operate<Args extends unknown[]>(
  run: (operation: OperatorOperation, ...args: Args) => Promise<void>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    const command = args.at(-1) as ParsedCommand;
    const { stack, table } = command.opts();
    const served = servedOperation.getStore();
    if (served) {
      if (stack ?? table) throw new Problem('A service runs commands on its own data only.');
      return run(served, ...args);
    }
    if (table !== undefined) return run(onTable(table), ...args);
    if (stack !== undefined) return run(onStack(stack), ...args);
    const settings = readLocalSettings(process.env);
    const service = await connectToService(settings.dataFolder);
    if (service) return runInService(service, requestOf(command), processTerminal);
    const opened = await openLocalContext(settings);
    try {
      await run(onStopped(opened, settings.dataFolder), ...args);
    } finally {
      await opened.close();
    }
  };
}

/** The terminal of this process. */
const processTerminal: Terminal = { ...processOutput, print: (text) => console.log(text), startProgress };

/** The terminal and the working folder of this process. npm starts scripts in the folder of the project. */
const here = () => ({ terminal: processTerminal, folder: process.env.INIT_CWD ?? process.cwd() });

function onStack(stack: string): OperatorOperation {
  return {
    ...here(),
    createContext: () => createStackContext(stack),
    findTargets: () => findStackTargets(stack),
  };
}

function onTable(table: string): OperatorOperation {
  return {
    ...here(),
    createContext: async () => createContext({ environment: { [environment.tableName]: table }, clock: Date.now }),
    findTargets: async () => {
      throw new Problem(`The table ${table} has no queues.`);
    },
  };
}

function onStopped({ context, backup }: LocalContext, dataFolder: string): OperatorOperation {
  return {
    ...here(),
    createContext: async () => context,
    findTargets: async () => {
      throw new Problem(
        `No Crewboard is running on the data folder ${dataFolder}, and its queues and dead letters are in its memory only; start one with npm start.`,
      );
    },
    backUpTable: backup,
  };
}

/**
 * Returns the name of a command below the program, such as `token create`, and its arguments as they were typed, in which
 * folder.
 */
function requestOf(command: ParsedCommand): CommandRequest {
  const names: string[] = [];
  let at = command;
  for (; at.parent; at = at.parent) names.unshift(at.name());
  return { command: names.join(' '), args: at.args.slice(names.length), folder: here().folder };
}
