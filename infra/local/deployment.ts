import { processContext, setProcessContext } from '../../lib/context.ts';
import { scopes } from '../../lib/contract/endpoint.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { issueToken } from '../../lib/http/issue-token.ts';
import { readToken } from '../../lib/http/token.ts';
import { setConverseClient } from '../../lib/model/bedrock.ts';
import { storeStepsBeforeWrites } from '../../lib/table/events/log-clock.ts';
import { readStoredToken } from '../../lib/table/organizations/tokens.ts';
import { readCorsOrigins } from './cors.ts';
import {
  closeDataFolder,
  type DataFolder,
  dataFiles,
  dataPath,
  deleteData,
  openDataFolder,
  readData,
  writeData,
} from './data-folder.ts';
import { createTable } from './engine/create-table.ts';
import { type Engine, startEngine } from './engine/engine.ts';
import { createEngineTable } from './engine/engine-table.ts';
import { startGateway } from './gateway.ts';
import { createLocalModel } from './model/local-model.ts';
import { startPollers } from './pollers.ts';
import { startQueueServer } from './queues/queue-server.ts';
import { createQueues, sendersOf } from './queues/queues.ts';
import { type Running, tableName } from './running.ts';
import type { Settings } from './settings.ts';
import { createChangeSignal, signalChange } from './stream/change-signal.ts';
import { createPositionStore } from './stream/stream-positions.ts';

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
  /** Resolves when the table's engine has ended unexpectedly. The deployment cannot work without it. */
  broken: Promise<void>;
  stop: () => Promise<void>;
};

/**
 * The maximum number of concurrent attempts of one webhook that is not slow. In AWS each container makes five; locally
 * one process replaces all containers. A receiver that takes 300 ms can still get hundreds of events a second.
 */
const normalAttempts = 100;

/** The organization that a new local deployment starts with. */
const firstOrganization = 'local' as Organization;

/**
 * Starts the whole service on this machine: the table's engine, the gateway and the handlers that Lambda runs in AWS. A
 * process can have one deployment only, because the handlers read the environment variables of the process. All files that
 * the process and its engine create from now on are for their owner only.
 *
 * @throws `Problem` for an error that the user can correct; all started parts are stopped first
 */
export async function startDeployment(settings: Settings): Promise<Deployment> {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  process.umask(0o077);
  try {
    const data = openDataFolder(settings.dataFolder);
    stops.push(() => closeDataFolder(data));
    // A former start has written it. Another program may listen at that address now.
    deleteData(data, dataFiles.addresses);
    const model = createLocalModel(settings.model);
    setConverseClient(model.client, model.name);
    const { endpoint, ended, stop: stopTable } = await openTableEngine(settings, data);
    stops.push(stopTable);
    await createTable(endpoint, tableName);
    const queues = createQueues();
    const queueServer = await startQueueServer(queues);
    stops.push(queueServer.stop);
    Object.assign(process.env, {
      [environment.tableName]: tableName,
      [environment.dynamodbEndpoint]: endpoint,
      [environment.sqsEndpoint]: queueServer.endpoint,
      ...queueServer.variables,
      // Empty means Bedrock's own endpoint. This overrides a value from the shell.
      [environment.modelEndpoint]: '',
      [environment.defaultModel]: settings.model.defaultModel,
      ...(settings.retryLadder !== undefined && { [environment.retryLadder]: settings.retryLadder }),
      ...(settings.responseDays !== undefined && { [environment.responseDays]: settings.responseDays }),
      ...(settings.failingDays !== undefined && { [environment.failingDays]: settings.failingDays }),
      ...(settings.runningCap !== undefined && { [environment.runningCap]: settings.runningCap }),
      ...(settings.waitingLimit !== undefined && { [environment.waitingLimit]: settings.waitingLimit }),
      ...(settings.executionSteps !== undefined && { [environment.executionSteps]: settings.executionSteps }),
      ...(settings.executionTokens !== undefined && { [environment.executionTokens]: settings.executionTokens }),
      ...(settings.executionMinutes !== undefined && { [environment.executionMinutes]: settings.executionMinutes }),
      [environment.requestsPerMinute]: String(settings.limits.requestsPerMinute),
      [environment.executionsPerMinute]: String(settings.limits.executionsPerMinute),
      ...(settings.limits.dailyTokens !== undefined && {
        [environment.dailyTokens]: String(settings.limits.dailyTokens),
      }),
      [environment.normalAttempts]: String(normalAttempts),
      [environment.secretsKeyFile]: dataPath(data, dataFiles.secretsKey),
      [environment.allowedReceivers]: settings.allowedReceivers,
      [environment.corsOrigins]: settings.corsOrigins,
    });
    const bundled = settings.dynamodbEndpoint === undefined;
    setProcessContext({
      environment: process.env,
      clock: Date.now,
      monotonic: () => performance.now(),
      ownsLogs: true,
      queues: sendersOf(queues),
      ...(bundled && { table: createEngineTable(tableName, endpoint) }),
    });
    storeStepsBeforeWrites(processContext());
    const signal = createChangeSignal();
    stops.push(await startPollers({ endpoint, tableName, queues, data, signal }));
    const token = await firstToken(data);
    // Last: the caller that gets a response finds the token, the queues and the pollers.
    const gateway = await startGateway(
      settings.port,
      () => signalChange(signal),
      readCorsOrigins(settings.corsOrigins),
    );
    stops.push(gateway.stop);
    // In the turn of the event loop in which the gateway begins to listen, so before it answers a request.
    const running: Running = { url: gateway.url, environment: functionEnvironment() };
    writeData(data, dataFiles.addresses, JSON.stringify(running));
    return {
      url: gateway.url,
      token,
      tokenFile: dataPath(data, dataFiles.token),
      modeProblem: data.modeProblem,
      modelDescription: model.description,
      modelProblem: await model.check(),
      broken: ended,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the environment variables of functions. The endpoint of the queues contains their key. */
function functionEnvironment(): Record<string, string> {
  const entries = Object.values(environment).map((name) => [name, process.env[name]]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Returns the engine that the settings name, or starts the bundled one on the data folder. */
async function openTableEngine({ dynamodbEndpoint }: Settings, data: DataFolder): Promise<Engine> {
  if (dynamodbEndpoint) return { endpoint: dynamodbEndpoint, ended: new Promise(() => {}), stop: async () => {} };
  const files = { database: dataPath(data, dataFiles.table), log: dataPath(data, dataFiles.engineLog) };
  return startEngine(files, createPositionStore(data));
}

/** Returns the token in the data folder. Creates one with every scope if there is none or it is not valid. */
async function firstToken(data: DataFolder): Promise<string> {
  const context = processContext();
  const stored = readData(data, dataFiles.token)?.trim();
  const id = stored && readToken(stored)?.id;
  const token = id && (await readStoredToken(context, id));
  if (stored && token && !token.revokedAt) return stored;
  const created = await issueToken(context, { organization: firstOrganization, scopes });
  writeData(data, dataFiles.token, `${created}\n`);
  return created;
}
