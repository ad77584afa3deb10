import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EventName } from '../../lib/contract/webhooks/events.ts';
import { successOf } from '../api.ts';
import type { Registered } from './check/evidence.ts';
import { createServiceClock, type ServiceClock } from './clock/service-clock.ts';
import { type Follower, startFollower } from './follower.ts';
import type { Ledger } from './ledger.ts';
import { randomFrom } from './random.ts';
import { type Receiver, startReceiver } from './receivers.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';
import { createWebhookChanges, type WebhookChanges } from './webhook-changes.ts';

/** The service of a soak, its receivers and webhooks, and the ledger of its writes. */
export type Setup = {
  service: ServiceProcess;
  dataFolder: string;
  clock: ServiceClock;
  receivers: Receiver[];
  registered: Registered[];
  changes: WebhookChanges;
  ledger: Ledger;
  follower: Follower;
};

/** The functions that end the parts of a setup, in the order in which they were started. */
export type Closes = (() => unknown)[];

/** The events of each webhook. Every event of a task has two subscribers. */
const subscriptions: readonly (readonly EventName[])[] = [
  ['task.created', 'task.status_changed', 'task.completed'],
  ['task.created', 'task.completed'],
  ['task.status_changed'],
  ['agent.spawned', 'agent.completed', 'agent.failed'],
];

/** The agent of all executions. An execution waits for its model twice, one call after the other. */
export const agent = { name: 'soaked', displayName: 'Soaked', category: 'operations' };
const ofModel = { MODEL_LATENCY_MS: '1000', RUNNING_CAP: '10000' };

/** Starts service and receivers, with the data in a folder, and registers the receivers. */
export async function createSetup(folder: string, seed: number, closes: Closes): Promise<Setup> {
  const random = randomFrom(seed + 1);
  const dataFolder = join(folder, 'data');
  mkdirSync(dataFolder);
  const clock = createServiceClock(join(folder, 'clock'));
  const environment = { RETRY_LADDER: '1,1,2', ...ofModel, ...clock.environment };
  const { nodeOptions } = clock;
  const service = await startServiceProcess({ dataFolder, environment, nodeOptions, log: join(folder, 'service.log') });
  closes.push(service.kill);
  const api = service.api();
  successOf(await api.createAgent({ body: agent }));
  const receivers: Receiver[] = [];
  const registered: Registered[] = [];
  for (const [nth, events] of subscriptions.entries()) {
    const receiver = await startReceiver(random, clock);
    closes.push(receiver.close);
    const body = { url: receiver.url, events, secret: `secret ${nth}` };
    const { id } = successOf<{ id: string }>(await api.registerWebhook({ body }));
    receivers.push(receiver);
    registered.push({ id, events, posts: receiver.posts, pauses: [], rates: [] });
  }
  const ledger = { tasks: new Map(), events: 0, executions: new Set<string>() };
  const follower = startFollower(service, randomFrom(seed + 2));
  closes.push(follower.stop);
  const changes = createWebhookChanges(service, registered);
  return { service, dataFolder, clock, receivers, registered, changes, ledger, follower };
}
