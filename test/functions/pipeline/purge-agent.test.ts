import { expect, it } from 'vitest';
import { handler as publish } from '../../../functions/pipeline/publish-events.ts';
import { handler as purge } from '../../../functions/pipeline/purge-agent.ts';
import { handler as sweep } from '../../../functions/pipeline/sweep-overdue.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { app } from '../../../lib/app.ts';
import type { NewAgent } from '../../../lib/contract/agents.ts';
import { queueEvent } from '../../queue-event.ts';
import { dumpOf } from '../../table-dump.ts';
import { streamed } from '../../table-stream.ts';
import { openPipeline } from './pipeline.ts';

const { service, organization, receive } = await openPipeline();
const anyVersion = () => {};
const newAgent: Omit<NewAgent, 'name'> = {
  displayName: 'A writer',
  category: 'business',
  systemPrompt: 'Write.',
  soul: 'Calm.',
  capabilities: [],
  status: 'active',
};

/** Creates an agent with texts and a skill, and deletes it: what the organization has without it. */
async function deleteOne(name: string): Promise<Record<string, unknown>> {
  const before = await dumpOf(service.table, organization);
  await app().agents.create(organization, { name, ...newAgent }, undefined);
  const skill = { id: 'sk_one', name: 'one', description: 'One.' };
  await app().agents.assign(organization, name, skill.id, [skill], undefined);
  await app().agents.delete(organization, name, anyVersion);
  return before;
}

/** Gives changes of purges from the table's stream to the publisher: all from the first `after` on. */
async function publishPurges(after = 0): Promise<void> {
  const records = (await streamed(service, 'purge')).slice(after);
  const { batchItemFailures } = await publish({ Records: records }, contextOf('publish', 60));
  expect(batchItemFailures).toEqual([]);
}

async function carryOut(bodies: string[]): Promise<void> {
  const { batchItemFailures } = await purge(queueEvent(bodies), contextOf('purgeAgent', 60));
  expect(batchItemFailures).toEqual([]);
}

it('what is left of a deleted agent goes when the stream has told of it', async () => {
  const before = await deleteOne('by-the-stream');
  expect(await dumpOf(service.table, organization)).not.toEqual(before);
  await publishPurges();
  const messages = await receive('purges');
  expect(messages).toHaveLength(1);
  await carryOut(messages);
  expect(await dumpOf(service.table, organization)).toEqual(before);
});

it('what is left of a deleted agent goes by the sweep where that was lost', async () => {
  const before = await deleteOne('by-the-sweep');
  await sweep({ detail: { until: '9999-12-31T23:59:59.999Z' } });
  const messages = await receive('purges');
  expect(messages).toHaveLength(1);
  await carryOut([...messages, ...messages]);
  expect(await dumpOf(service.table, organization)).toEqual(before);
});

it('one sweep sends one message for a purge, and its change of the purge sends none', async () => {
  const published = (await streamed(service, 'purge')).length;
  await deleteOne('swept-and-streamed');
  await sweep({ detail: { until: '9999-12-31T23:59:59.999Z' } });
  const bySweep = await receive('purges');
  expect(bySweep).toHaveLength(1);
  await publishPurges(published);
  expect(await receive('purges')).toEqual(bySweep);
  const records = (await streamed(service, 'purge')).slice(published);
  expect(records.map(({ eventName }) => eventName)).toEqual(['INSERT', 'MODIFY']);
  await carryOut(bySweep);
});
