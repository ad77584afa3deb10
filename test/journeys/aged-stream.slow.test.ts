import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ulid } from 'ulid';
import { expect, it } from 'vitest';
import { startEngine } from '../../infra/local/engine/engine.ts';
import { tableName } from '../../infra/local/running.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { openTable } from '../../lib/table/client.ts';
import * as tasks from '../../lib/tasks/tasks.ts';
import { newTask } from '../table/tasks/test-table.ts';
import { type Receiver, startReceiver } from '../webhooks/sender/receiver.ts';
import { type Deployment, startDeployment } from './deployment.ts';
import { createTask, register } from './requests.ts';

const organization = 'local' as Organization;

/** A service that has published one event and is stopped. */
async function startStopped(): Promise<{ stopped: Deployment; receiver: Receiver }> {
  const receiver = await startReceiver();
  const stopped = await startDeployment();
  await register(stopped, { url: receiver.url, events: ['task.created'] });
  await createTask(stopped, 'Published before');
  await receiver.next(1);
  await stopped.stop();
  return { stopped, receiver };
}

/** Makes every record of a stopped service's stream three days older. */
function age({ dataFolder }: Deployment): void {
  const file = new DatabaseSync(join(dataFolder, 'table.db'));
  file.exec('UPDATE _stream_records SET created_at = created_at - 3 * 86400');
  file.close();
}

/** Creates a task in the table of a stopped service, so that its event is not published. */
async function createUnpublished({ dataFolder }: Deployment): Promise<string> {
  const engine = await startEngine({ database: join(dataFolder, 'table.db'), log: join(dataFolder, 'engine.log') });
  const context = { table: openTable(tableName, engine.endpoint), ulid };
  const task = await tasks.createTask(context, organization, newTask(), undefined);
  await engine.stop();
  return task.id;
}

const idsOf = ({ received }: Receiver) => received.map(({ body }) => body.data.task.id);

/** Starts a stopped service again, and stops it once the receiver has got a second event. Returns the id of a new task. */
async function startAgain({ dataFolder }: Deployment, receiver: Receiver, title?: string): Promise<string | undefined> {
  const again = await startDeployment({ dataFolder });
  const id = title && (await createTask(again, title));
  await receiver.next(2);
  await again.stop();
  return id;
}

it('publishes changes that waited for longer than a day while the service was stopped', async () => {
  const { stopped, receiver } = await startStopped();
  const id = await createUnpublished(stopped);
  age(stopped);
  await startAgain(stopped, receiver);
  expect(idsOf(receiver)[1]).toBe(id);
});

it('publishes the first change after days in which nothing changed', async () => {
  const { stopped, receiver } = await startStopped();
  age(stopped);
  const id = await startAgain(stopped, receiver, 'Published after');
  expect(idsOf(receiver)[1]).toBe(id);
});

it('publishes the first change where the kept position is above every record of the stream', async () => {
  const { stopped, receiver } = await startStopped();
  const file = join(stopped.dataFolder, 'stream.json');
  const [shard] = Object.keys(JSON.parse(readFileSync(file, 'utf8')));
  writeFileSync(file, JSON.stringify({ [shard as string]: '1000000' }));
  const id = await startAgain(stopped, receiver, 'Published after');
  // The event of the first task was published; handling its change again sends nothing.
  expect(idsOf(receiver).slice(1)).toEqual([id]);
});
