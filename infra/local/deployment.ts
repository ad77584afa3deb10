import { type Context, processContext, setProcessContext } from '../../lib/context/context.ts';
import { scopes } from '../../lib/contract/endpoint.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { issueToken } from '../../lib/http/issue-token.ts';
import { readToken } from '../../lib/http/token.ts';
import { setConverseClient } from '../../lib/model/bedrock.ts';
import { storeStepsBeforeWrites } from '../../lib/table/events/log-times.ts';
import { readStoredToken } from '../../lib/table/organizations/tokens.ts';
import { listenForCommands, removeFormerAddresses } from './commands/command-address.ts';
import type { CommandRequest, Terminal } from './commands/messages.ts';
import { readCorsOrigins } from './cors.ts';
import {
  closeDataFolder,
  type DataFolder,
  dataFiles,
  dataPath,
  openDataFolder,
  readData,
  writeData,
} from './data-folder.ts';
import { functionEnvironment } from './function-environment.ts';
import { startGateway } from './gateway.ts';
import { createLocalModel } from './model/local-model.ts';
import { type OpenTable, openDataTable } from './open-table.ts';
import { startPollers } from './pollers.ts';
import { createQueues, type Queues, sendersOf } from './queues/queues.ts';
import type { Running } from './running.ts';
import type { LocalSettings } from './settings.ts';

/** A running local deployment. `stop` ends it cleanly: every confirmed change is then in the data folder. */
export type Deployment = {
  url: string;
  token: string;
  tokenFile: string;
  /** What other users of the machine may have access to, as a sentence; `undefined` if it is nothing. */
  modeProblem: string | undefined;
  /** A line that names the model, for the startup output. */
  modelDescription: string;
  /** What is wrong with the server of the model, as a sentence; `undefined` if nothing is. */
  modelProblem: string | undefined;
  /** What the start has done with the data of an earlier version, as a sentence; `undefined` if nothing. */
  upgraded: string | undefined;
  /** Whether a power cut can undo the last changes, because the settings say so. */
  isRelaxed: boolean;
  /** Resolves when the table cannot be written any more. The deployment cannot work without it. */
  broken: Promise<void>;
  stop: () => Promise<void>;
};

/** What commands of operators work on in the process of the service. */
export type ServiceAccess = { context: Context; queues: Queues; backup?: OpenTable['backup'] };

/** Runs a command of operators in the process of the service. Prints its errors, and sets its exit code. */
export type RunServiceCommand = (access: ServiceAccess, request: CommandRequest, terminal: Terminal) => Promise<void>;

/** The organization that a new local deployment starts with. */
const firstOrganization = 'local' as Organization;

/**
 * Starts the whole service on this machine: the table, the gateway and the handlers that Lambda runs in AWS. A process can
 * have one deployment only, because the handlers read the environment variables of the process. All files that the process
 * creates from now on are for its owner only.
 *
 * @param runCommand runs the commands of operators; without it the deployment accepts none
 * @throws `Problem` for an error that the user can correct; all started parts are stopped first
 */
export async function startDeployment(settings: LocalSettings, runCommand?: RunServiceCommand): Promise<Deployment> {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  process.umask(0o077);
  try {
    const data = openDataFolder(settings.dataFolder);
    stops.push(() => closeDataFolder(data));
    removeFormerAddresses(data);
    const model = createLocalModel(settings.model);
    setConverseClient(model.client, model.name);
    const { table, backup, changes, upgraded, ended, close } = await openDataTable(settings, data, { inThread: true });
    stops.push(close);
    const queues = createQueues();
    Object.assign(process.env, functionEnvironment(settings, data));
    setProcessContext({
      environment: process.env,
      clock: Date.now,
      monotonic: () => performance.now(),
      ownsLogs: true,
      queues: sendersOf(queues),
      ...(table && { table }),
    });
    storeStepsBeforeWrites(processContext());
    stops.push(await startPollers({ changes, queues }));
    const token = await firstToken(data);
    const access = { context: processContext(), queues, backup };
    const commands = runCommand && (await listenForCommands(data, (...call) => runCommand(access, ...call)));
    if (commands) stops.push(commands.stop);
    // Last: the caller that gets a response finds the token, the queues and the pollers.
    const gateway = await startGateway(settings.port, readCorsOrigins(settings.corsOrigins));
    stops.push(gateway.stop);
    // In the turn of the event loop in which the gateway begins to listen, so before it answers a request.
    const running: Running = { url: gateway.url, commands: commands?.address };
    writeData(data, dataFiles.addresses, JSON.stringify(running));
    const { description: modelDescription, problem: modelProblem } = await model.check();
    return {
      url: gateway.url,
      token,
      tokenFile: dataPath(data, dataFiles.token),
      modeProblem: data.modeProblem,
      modelDescription,
      modelProblem,
      upgraded,
      isRelaxed: table !== undefined && settings.durability !== 'full',
      broken: ended,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the token in the data folder. Creates one with every scope if there is none or it is not valid. */
async function firstToken(data: DataFolder): Promise<string> {
  const context = processContext();
  const stored = readData(data, dataFiles.token)?.trim();
  const id = stored && readToken(stored)?.id;
  const token = id && (await readStoredToken(context, id));
  if (stored && token && !token.revokedAt) return stored;
  // Comments and histories name it.
  const created = await issueToken(context, { organization: firstOrganization, name: 'this machine', scopes });
  writeData(data, dataFiles.token, `${created}\n`);
  return created;
}
