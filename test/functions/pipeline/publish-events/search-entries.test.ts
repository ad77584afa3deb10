import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../../lib/context/context.ts';
import { ulidOf } from '../../../../lib/contract/ids.ts';
import type { TaskPatch } from '../../../../lib/contract/tasks/tasks.ts';
import { keys } from '../../../../lib/table/access/keys.ts';
import { getItem, readRange } from '../../../../lib/table/access/reads.ts';
import type { Item } from '../../../../lib/table/access/write.ts';
import { followTask, searchEntry } from '../../../../lib/table/tasks/search-entries.ts';
import { readTask } from '../../../../lib/table/tasks/tasks.ts';
import { createTask, deleteTask, updateTask } from '../../../../lib/tasks/tasks.ts';
import { fc } from '../../../seeded.ts';
import { tasksOf } from '../../../table/tasks/oracle.ts';
import { always, newTask } from '../../../table/tasks/test-table.ts';
import { publish } from '../call-functions.ts';
import { createTestPipeline } from '../test-pipeline.ts';

const { service, organization } = await createTestPipeline();
const { table } = service;

const addTask = async (title = 'A task') =>
  (await createTask(processContext(), organization, newTask({ title }), undefined)).id;
const change = (id: string, fields: TaskPatch) => updateTask(processContext(), organization, id, fields, always);
const remove = (id: string) => deleteTask(processContext(), organization, id, always);

const entryOf = (id: string) => getItem(table, keys.searchEntry(organization, ulidOf(id)));

let position: string | undefined;

/** Returns the records of the changes since the last call. */
async function newRecords(): Promise<DynamoDBRecord[]> {
  const records = await service.changes.after(position, 10_000);
  position = records.at(-1)?.dynamodb?.SequenceNumber ?? position;
  return records;
}

/** Publishes changes, of which none may fail. */
async function follow(records: readonly DynamoDBRecord[], more: object = {}): Promise<void> {
  expect(await publish(...records.map((record) => ({ ...record, ...more })))).toEqual([]);
}

/** Returns the entries that the tasks of the organization should have, and the existing entries, by id. */
async function expectedAndStored(): Promise<[Item[], Item[]]> {
  const tasks = await tasksOf(table, organization);
  const stored = await readRange(table, { pk: keys.searchEntries(organization), ascending: true });
  const expected = tasks.map((task) => searchEntry(organization, task));
  return [expected.sort((one, other) => (String(one.sk) < String(other.sk) ? -1 : 1)), stored];
}

function writesEntries(command: unknown): boolean {
  return (
    command instanceof BatchWriteCommand &&
    JSON.stringify(command.input).includes(keys.searchEntry(organization, '').pk)
  );
}

describe('the search entry of a task', () => {
  it('has its title, status, priority, agent and project, and no more', async () => {
    const fields = { title: 'Draw it', description: 'Long.', assignedAgent: 'qa-reviewer', projectId: 'proj_1' };
    const { id } = await createTask(
      processContext(),
      organization,
      newTask({ ...fields, priority: 'high' }),
      undefined,
    );
    const bare = await addTask('Build it');
    await follow(await newRecords());
    const key = (of: string) => keys.searchEntry(organization, ulidOf(of));
    const entry = { title: 'Draw it', facet: 'bh', agent: 'qa-reviewer', project: 'proj_1' };
    expect(await entryOf(id)).toEqual({ ...key(id), ...entry });
    expect(await entryOf(bare)).toEqual({ ...key(bare), title: 'Build it', facet: 'bm' });
  });

  it('is written again only for a change of one of these fields', async () => {
    const id = await addTask();
    await follow(await newRecords());
    const writes = vi.spyOn(table.client, 'send');
    const written = () => writes.mock.calls.filter(([command]) => writesEntries(command)).length;
    await change(id, { description: 'Longer.' });
    await follow(await newRecords());
    expect(written()).toBe(0);
    for (const fields of [
      { title: 'Other' },
      { priority: 'low' },
      { projectId: 'proj_1' },
      { projectId: null },
    ] as const) {
      await change(id, fields);
      const before = written();
      await follow(await newRecords());
      expect([fields, written() - before]).toEqual([fields, 1]);
      expect((await expectedAndStored())[1]).toContainEqual(
        searchEntry(organization, (await readTask(service, organization, id)) as never),
      );
    }
    writes.mockRestore();
  });

  it('is right in the end however often batches are repeated', async () => {
    const step = fc.record({
      what: fc.constantFrom('add', 'rename', 'move', 'delete', 'describe'),
      which: fc.nat(),
      text: fc.constantFrom('One', 'Two', 'Three'),
    });
    /** Each batch has some changes; the stream goes on after it, or repeats from a change before its end. */
    const batch = fc.record({ size: fc.integer({ min: 1, max: 8 }), back: fc.option(fc.nat(10), { freq: 2 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.array(batch, { maxLength: 12 }),
        async (steps, batches) => {
          const ids: string[] = [];
          for (const { what, which, text } of steps) {
            const id = ids[which % ids.length];
            if (what === 'add' || id === undefined) ids.push(await addTask(text));
            else if (what === 'rename') await change(id, { title: text });
            else if (what === 'move') await change(id, { status: text === 'One' ? 'done' : 'qa_review' });
            else if (what === 'describe') await change(id, { description: text });
            else {
              await remove(id);
              ids.splice(ids.indexOf(id), 1);
            }
          }
          const records = await newRecords();
          let at = 0;
          for (const { size, back } of batches) {
            const end = Math.min(records.length, at + size);
            if (at < end) await follow(records.slice(at, end));
            at = Math.max(0, end - (back ?? 0));
          }
          for (; at < records.length; at += 5) await follow(records.slice(at, at + 5));
          const [expected, stored] = await expectedAndStored();
          expect(stored).toEqual(expected);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('a change that was a dead letter and is redriven', () => {
  it('leaves the entry of a later title, and brings back none of a deleted task', async () => {
    const [id, gone] = [await addTask('Former'), await addTask('Gone')];
    const created = await newRecords();
    await follow(created);
    await change(id, { title: 'Latter' });
    await remove(gone);
    await follow(await newRecords());
    await follow(created, { redriven: true });
    expect([(await entryOf(id))?.title, await entryOf(gone)]).toEqual(['Latter', undefined]);
  });

  it('writes the entry that was not written', async () => {
    const id = await addTask('Former');
    const created = await newRecords();
    await change(id, { title: 'Latter' });
    await newRecords();
    await follow(created, { redriven: true });
    expect(await entryOf(id)).toMatchObject({ title: 'Latter' });
  });

  it('leaves the entry of a title that is set and followed at the same time', async () => {
    const id = await addTask('Former');
    const created = await newRecords();
    const { client } = table;
    const send = client.send.bind(client) as (command: unknown) => Promise<unknown>;
    let isChanged = false;
    const spy = vi.spyOn(client, 'send').mockImplementation(async (command: unknown) => {
      if (writesEntries(command) && !isChanged) {
        isChanged = true;
        const before = await readTask(service, organization, id);
        await change(id, { title: 'Latter' });
        await followTask({ table, batchers: {} }, organization, before, await readTask(service, organization, id));
      }
      return send(command) as never;
    });
    await follow(created, { redriven: true });
    spy.mockRestore();
    expect(isChanged).toBe(true);
    expect(await entryOf(id)).toMatchObject({ title: 'Latter' });
  });
});
