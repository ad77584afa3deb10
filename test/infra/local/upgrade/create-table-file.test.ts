import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { closeDataFolder, openDataFolder } from '../../../../infra/local/data-folder.ts';
import { loadHandler } from '../../../../infra/local/functions.ts';
import { createQueues, sendersOf } from '../../../../infra/local/queues/queues.ts';
import { readChanges } from '../../../../infra/local/table/changes/change-reader.ts';
import { openLocalTable } from '../../../../infra/local/table/local-table.ts';
import { largestItem } from '../../../../infra/local/table/rows.ts';
import { tableFiles } from '../../../../infra/local/upgrade/create-table-file.ts';
import { takeOverFormerTable } from '../../../../infra/local/upgrade/take-over.ts';
import { setProcessContext } from '../../../../lib/context/context.ts';
import { readToken } from '../../../../lib/http/token.ts';
import { consumers } from '../../../../lib/names/consumers.ts';
import { environment } from '../../../../lib/names/environment.ts';
import type { Item } from '../../../../lib/table/access/write.ts';
import { readStoredToken } from '../../../../lib/table/organizations/tokens.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';
import { answersOf, createFormerFolder, formerVersions } from './former-folders.ts';

const tableName = 'crewboard';
const [{ kinds }] = consumers.publishEvents.sources;

/** Takes over the folder of a version, and opens its new table. */
async function takeOver(version: (typeof formerVersions)[number]) {
  const folder = createFormerFolder(version);
  const data = openDataFolder(folder);
  takeOverFormerTable(data, 'new.db', tableFiles(kinds));
  const path = join(folder, 'new.db');
  expect(['-wal', '-shm', '-journal'].filter((end) => existsSync(path + end))).toEqual([]);
  const opened = await openLocalTable({ path, tableName, kinds });
  onTestFinished(async () => {
    await opened.close();
    closeDataFolder(data);
  });
  const scan = new ScanCommand({ TableName: tableName, ConsistentRead: true });
  const readItems = async (): Promise<Item[]> => (await opened.table.client.send(scan)).Items ?? [];
  return { folder, ...opened, readItems };
}

/** Returns the wire form of a value with the members of its sets in order: sets have none. */
const sorted = (value: unknown) =>
  JSON.parse(JSON.stringify(value), (name, one) => (name === 'SS' || name === 'NS' ? one.sort() : one));

const byKey = (items: Record<string, { S?: string }>[]) =>
  Object.fromEntries(items.map((item) => [`${item.pk?.S} ${item.sk?.S}`, item]));

it.each(formerVersions)('has the items and the changes to publish that the engine of %s answers', async (version) => {
  const { readItems, changes } = await takeOver(version);
  const answers = answersOf(version);
  const items = (await readItems()).map((item) => marshall(item)) as Record<string, { S?: string }>[];
  expect(sorted(byKey(items))).toEqual(sorted(byKey(answers.items)));

  const records = changes.after(undefined, 1000).map(({ eventName, dynamodb }) => {
    const { SequenceNumber, StreamViewType, ...images } = dynamodb ?? {};
    return { eventName, dynamodb: images };
  });
  const isPublished = ({ dynamodb: { OldImage, NewImage } }: (typeof answers.changes)[number]) => {
    const { kind } = (NewImage ?? OldImage) as { kind?: { S: string } };
    return (kinds as readonly (string | undefined)[]).includes(kind?.S);
  };
  const expected = answers.changes.filter(isPublished).map(({ eventName, dynamodb }) => {
    const { SequenceNumber, ...images } = dynamodb as typeof dynamodb & { SequenceNumber: string };
    return { eventName, dynamodb: images };
  });
  expect(sorted(records)).toEqual(sorted(expected));
});

/** Returns the titles of the last tasks before the kill whose creation is in the event log. */
function publishedTitles(items: Item[]): unknown[] {
  const events = JSON.stringify(items.filter(({ pk }) => pk === 'O#local#E'));
  const tasks = items.filter(({ kind, title }) => kind === 'task' && String(title).startsWith('Before the kill'));
  return tasks
    .filter(({ sk }) => events.includes(String(sk)))
    .map(({ title }) => title)
    .sort();
}

it.each(formerVersions)('publishes what %s had answered but not published', async (version) => {
  const { folder, table, changes, readItems } = await takeOver(version);
  setProcessContext({
    environment: {
      ...process.env,
      [environment.tableName]: tableName,
      [environment.secretsKeyFile]: join(folder, 'secrets.key'),
    },
    clock: Date.now,
    queues: sendersOf(createQueues()),
    table,
  });
  expect(publishedTitles(await readItems()).length).toBeLessThan(3);
  const handler = await loadHandler('pipeline', 'publish-events');
  const stop = readChanges({ name: 'publishEvents', changes, handler, batchSize: 100, timeoutSeconds: 60 });
  onTestFinished(stop);
  await expect
    .poll(async () => publishedTitles(await readItems()))
    .toEqual(['Before the kill 1', 'Before the kill 2', 'Before the kill 3']);
  const id = readToken(readFileSync(join(folder, 'token'), 'utf8').trim())?.id as string;
  expect(await readStoredToken({ table }, id)).toBeDefined();
});

it('takes an item over that is too large by the count of this version only', () => {
  const path = join(createTemporaryFolder(), 'new.db');
  const item = { pk: 'O#local#T', sk: '1', text: 'x'.repeat(largestItem) };
  tableFiles(kinds)(path, ({ insertItems }) => expect(insertItems([item])).toBe(1));
});
