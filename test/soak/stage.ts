import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EventName } from '../../lib/contract/events.ts';
import { ask } from './api.ts';
import { type EngineProcess, openEngine } from './engine-process.ts';
import type { Registered } from './evidence.ts';
import type { Ledger } from './ledger.ts';
import { randomFrom } from './random.ts';
import { type Receiver, startReceiver } from './receivers.ts';
import { openService, type ServiceProcess } from './service-process.ts';
import { openTableProxy, type TableProxy } from './table-proxy.ts';

/** Everything that is on the stage of a soak: what is soaked, what disturbs it, and what is written down. */
export type Stage = {
  service: ServiceProcess;
  engine: EngineProcess;
  proxy: TableProxy;
  receivers: Receiver[];
  registered: Registered[];
  ledger: Ledger;
};

/** What has to be ended again, in the order in which it began. */
export type Closes = (() => unknown)[];

/** What each webhook hears. Every event of a task is heard by two. */
const hearing: readonly (readonly EventName[])[] = [
  ['task.created', 'task.status_changed', 'task.completed'],
  ['task.created', 'task.completed'],
  ['task.status_changed'],
  ['agent.spawned', 'agent.completed', 'agent.failed'],
];

/** The agent that works all the time. A run takes two answers of its model, one after the other. */
export const agent = { name: 'untiring', displayName: 'Untiring', category: 'operations' };
const ofModel = { MODEL_LATENCY_MS: '1000', RUNNING_CAP: '10000' };

/** Starts engine, proxy, service and receivers in a folder, and registers the receivers. */
export async function setStage(folder: string, seed: number, closes: Closes): Promise<Stage> {
  const random = randomFrom(seed + 1);
  const dataFolder = join(folder, 'data');
  mkdirSync(dataFolder);
  const proxy = await openTableProxy(random);
  closes.push(proxy.close);
  const engine = await openEngine(dataFolder, proxy);
  closes.push(engine.kill);
  const environment = { DYNAMODB_ENDPOINT: proxy.endpoint, RETRY_LADDER: '1,1,2', ...ofModel };
  const service = await openService({ dataFolder, environment, log: join(folder, 'service.log') });
  closes.push(service.kill);
  await ask(service, 'POST', '/api/agents', agent);
  const receivers: Receiver[] = [];
  const registered: Registered[] = [];
  for (const [nth, events] of hearing.entries()) {
    const receiver = await startReceiver(random);
    closes.push(receiver.close);
    const body = { url: receiver.url, events, secret: `secret ${nth}` };
    const { data } = await ask(service, 'POST', '/api/webhooks/register', body);
    receivers.push(receiver);
    registered.push({ id: data.id, events, posts: receiver.posts });
  }
  return {
    service,
    engine,
    proxy,
    receivers,
    registered,
    ledger: { tasks: new Map(), events: 0, executions: new Set() },
  };
}
