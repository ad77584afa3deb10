import { app } from '../../lib/app.ts';
import { setProcessContext } from '../../lib/context.ts';
import { scopes } from '../../lib/contract/endpoint.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { issueToken } from '../../lib/http/issue-token.ts';
import { readToken } from '../../lib/http/token.ts';
import { setConverseClient } from '../../lib/model/bedrock.ts';
import { readStoredToken } from '../../lib/table/tokens.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { createTable } from './engine/create-table.ts';
import { type Engine, startEngine } from './engine/engine.ts';
import { openEngineTable } from './engine/engine-table.ts';
import { startGateway } from './gateway.ts';
import { createLocalModel } from './model/local-model.ts';
import { startPollers } from './pollers.ts';
import { startQueueServer } from './queues/queue-server.ts';
import { createQueues, senderOf } from './queues/queues.ts';
import { addressFile, type Running, tableName } from './running.ts';
import type { Settings } from './settings.ts';
import { openBell } from './stream/change-signal.ts';
import { positionsOf } from './stream/stream-positions.ts';

/** A running local deployment. `stop` ends it cleanly; all that it answered for is in the data folder by then. */
export type Deployment = {
  url: string;
  token: string;
  tokenFile: string;
  /** A line that names the model, for the output at the start. */
  modelDescription: string;
  /** Resolves when the table's engine has ended without being asked to: nothing works any more. */
  broken: Promise<void>;
  stop: () => Promise<void>;
};

/**
 * How many attempts of one webhook run at the same time: this process stands for all containers of AWS, where each makes
 * five. So a receiver that takes 300 ms can still get hundreds of events a second.
 */
const promptAttempts = 100;

/** The organization that a new local deployment starts with. */
const firstOrganization = 'local' as Organization;

/**
 * Brings the whole service up on this machine: the table's engine, the gateway and the handlers that Lambda would
 * run. One deployment a process, for the handlers read their environment from the process.
 *
 * @throws `Problem` for what its user can put right; what was started before is stopped again
 */
export async function startDeployment(settings: Settings): Promise<Deployment> {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  try {
    const data = openDataFolder(settings.dataFolder);
    stops.push(data.close);
    const model = createLocalModel(settings.model);
    setConverseClient(model.client);
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
      // Of Bedrock itself where that answers, whatever the shell has set.
      [environment.modelEndpoint]: '',
      [environment.defaultModel]: settings.model.defaultModel,
      ...(settings.retryLadder !== undefined && { [environment.retryLadder]: settings.retryLadder }),
      ...(settings.runningCap !== undefined && { [environment.runningCap]: settings.runningCap }),
      ...(settings.waitingLimit !== undefined && { [environment.waitingLimit]: settings.waitingLimit }),
      [environment.requestsPerMinute]: String(settings.limits.requestsPerMinute),
      [environment.executionsPerMinute]: String(settings.limits.executionsPerMinute),
      [environment.promptAttempts]: String(promptAttempts),
      [environment.secretsKeyFile]: data.path('secrets.key'),
      [environment.allowedReceivers]: settings.allowedReceivers,
    });
    const bundled = settings.dynamodbEndpoint === undefined;
    setProcessContext({
      environment: process.env,
      clock: Date.now,
      queue: (name) => senderOf(queues[name]),
      ...(bundled && { table: openEngineTable(tableName, endpoint) }),
    });
    const bell = openBell();
    stops.push(await startPollers({ endpoint, tableName, queues, data, bell }));
    const gateway = await startGateway(settings.port, bell.ring);
    stops.push(gateway.stop);
    const token = await firstToken(data);
    data.write(addressFile, JSON.stringify({ url: gateway.url, environment: given() } satisfies Running));
    return {
      url: gateway.url,
      token,
      tokenFile: data.path('token'),
      modelDescription: model.description,
      broken: ended,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The environment variables that functions are given: no secret is among them. */
function given(): Record<string, string> {
  const entries = Object.values(environment).map((name) => [name, process.env[name]]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** The engine that the settings name, or the bundled one on the data folder. */
async function openTableEngine({ dynamodbEndpoint }: Settings, data: DataFolder): Promise<Engine> {
  if (dynamodbEndpoint) return { endpoint: dynamodbEndpoint, ended: new Promise(() => {}), stop: async () => {} };
  return startEngine({ database: data.path('table.db'), log: data.path('engine.log') }, positionsOf(data));
}

/** The token in the data folder; a new one, with every scope, where there is none or it is not good any more. */
async function firstToken(data: DataFolder): Promise<string> {
  const kept = data.read('token')?.trim();
  const id = kept && readToken(kept)?.id;
  const token = id && (await readStoredToken(app(), id));
  if (kept && token && !token.revokedAt) return kept;
  const issued = await issueToken(app(), { organization: firstOrganization, scopes });
  data.write('token', `${issued}\n`);
  return issued;
}
