import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { endpoints } from '../../../lib/contract/endpoints.ts';
import type { ErrorCode } from '../../../lib/contract/errors.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import type { Operation } from '../../../lib/contract/routes.ts';
import { keys } from '../../../lib/table/keys.ts';
import { webhooksLimit } from '../../../lib/table/webhooks.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { listed, newDelegation, newExecution, startedOf } from '../../functions/agents/crew.ts';
import { faulty } from '../../functions/agents/lessons.ts';
import { newAgent } from '../../functions/agents/registry.ts';
import { newWebhook } from '../../functions/webhooks/registry.ts';
import type { Answer } from '../../service.ts';
import type { Office, Request } from './office.ts';

/** The operations that take an Idempotency-Key: every POST. A row without a case below does not pass `tsc`. */
export type Post = {
  [Name in Operation]: (typeof endpoints)[Name]['method'] extends 'POST' ? Name : never;
}[Operation];

/** How an operation is put to the test. */
export type Case = {
  /** Makes what a request needs, and tells the request. */
  prepare: (office: Office) => Promise<Request>;
  /** Another good body. */
  otherBody: Record<string, unknown>;
  /** The parameters of another path that could be sent to as well. */
  otherParams?: (office: Office) => Promise<Record<string, string>>;
  /** What it has come to, as numbers that are each how often it was carried out. */
  counts: (office: Office, request: Request) => Promise<number[]>;
  /** Changes the state so that it is refused from now on, as `refused`; returns what changes it back. */
  close: (office: Office, request: Request) => Promise<() => Promise<unknown>>;
  refused: ErrorCode;
  /** Deletes what was made, or what it was made for. */
  remove: (office: Office, request: Request, answer: Answer) => Promise<Answer>;
};

/** How often an agent was changed. */
const changes = async ({ registry }: Office, name = 'writer'): Promise<number> =>
  Number(JSON.parse((await registry.get(name)).headers.ETag ?? '"1"')) - 1;

/** Without an agent until it is created again. */
async function withoutAgent({ registry }: Office, name: string) {
  await registry.delete(name);
  return () => registry.put({ name });
}

/** Without an item until it is put back. */
async function withoutItem({ service: { table } }: Office, Key: { pk: string; sk: string }) {
  const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key, ConsistentRead: true }));
  await table.client.send(new DeleteCommand({ TableName: table.name, Key }));
  return () => table.client.send(new PutCommand({ TableName: table.name, Item }));
}

/** With as many executions running as may. */
async function crowded(office: Office) {
  const running: string[] = [];
  for (;;) {
    const answer = await office.execute(newExecution, { name: 'qa-reviewer' });
    if (answer.status !== 200) break;
    running.push(startedOf(answer).executionId);
  }
  return () => Promise.all(running.map((id) => office.carryOut(id)));
}

/** With as many webhooks as may be, by their number. */
async function full({ organization, service: { table } }: Office) {
  const Item = { ...keys.webhookCount(organization), count: webhooksLimit };
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
  return () => table.client.send(new PutCommand({ TableName: table.name, Item: { ...Item, count: 0 } }));
}

/** Each operation that takes a key. */
export const cases: Record<Post, Case> = {
  createTask: {
    prepare: async ({ registry }) => {
      await registry.put({ name: 'helper' });
      return { body: { title: 'Once', assignedAgent: 'helper' } };
    },
    otherBody: { title: 'Twice' },
    counts: async ({ board }) => [paginationOf(await board.listTasks()).total],
    close: (office) => withoutAgent(office, 'helper'),
    refused: 'unknown_reference',
    remove: ({ board }, _, answer) => board.deleteTask({ params: { id: dataOf(answer).id } }),
  },
  createAgent: {
    prepare: async () => ({ body: newAgent }),
    otherBody: { ...newAgent, name: 'other' },
    counts: async ({ registry }) => [paginationOf(await registry.list('category=business')).total],
    close: async ({ registry }) => {
      await registry.create();
      return () => registry.delete('writer');
    },
    refused: 'name_taken',
    remove: ({ registry }) => registry.delete('writer'),
  },
  assignSkill: {
    prepare: async ({ registry }) => ({
      params: { name: await registry.put() },
      body: { skillId: 'sk_code-review' },
    }),
    otherBody: { skillId: 'sk_release-notes' },
    otherParams: async () => ({ name: 'qa-reviewer' }),
    counts: async (office) => [await changes(office), (await office.registry.skillsOf('writer')).length],
    close: (office) => withoutAgent(office, 'writer'),
    refused: 'not_found',
    remove: ({ registry }) => registry.unassign('writer', 'sk_code-review'),
  },
  executeAgent: {
    prepare: async ({ board, registry }) => ({
      params: { name: await registry.put() },
      body: { ...newExecution, taskId: await board.put() },
    }),
    otherBody: { input: 'Write a sonnet.' },
    otherParams: async () => ({ name: 'qa-reviewer' }),
    counts: async (office) => [listed(await office.listOf('writer'))[1], await taskMoves(office)],
    close: crowded,
    refused: 'rate_limited',
    remove: ({ registry }) => registry.delete('writer'),
  },
  delegateTask: {
    prepare: async ({ board, registry }) => {
      await registry.put({ name: 'reader' });
      return { params: { name: await registry.put() }, body: { ...newDelegation, taskId: await board.put() } };
    },
    otherBody: { ...newDelegation, instruction: 'Read it in silence.' },
    otherParams: async () => ({ name: 'qa-reviewer' }),
    counts: async (office) => [listed(await office.listOf('reader'))[1], await taskMoves(office)],
    close: async ({ registry }) => {
      await registry.update('reader', { status: 'inactive' });
      return () => registry.update('reader', { status: 'active' });
    },
    refused: 'agent_not_active',
    remove: ({ registry }) => registry.delete('reader'),
  },
  selfImproveAgent: {
    prepare: async (office) => {
      const name = await office.registry.put({ systemPrompt: 'Write.' });
      await office.carryOut(await office.start(), faulty);
      return { params: { name }, body: { lookbackExecutions: 5 } };
    },
    otherBody: { focusArea: 'Sources' },
    otherParams: async () => ({ name: 'qa-reviewer' }),
    counts: async (office) => [await changes(office), office.proposals()],
    close: (office) => withoutAgent(office, 'writer'),
    refused: 'not_found',
    remove: ({ registry }) => registry.delete('writer'),
  },
  registerWebhook: {
    prepare: async () => ({ body: { ...newWebhook, secret: 'a private secret' } }),
    otherBody: { ...newWebhook, secret: 'another secret' },
    counts: async ({ send }) => [dataOf<unknown[]>(await send('listWebhooks')).length],
    close: full,
    refused: 'limit_reached',
    remove: ({ send }, _, answer) => send('deleteWebhook', { params: { id: dataOf(answer).id } }),
  },
  testWebhook: {
    prepare: async (office) => ({ params: { id: await newReceived(office) }, body: { event: 'task.created' } }),
    otherBody: { event: 'agent.failed' },
    otherParams: async (office) => ({ id: await newReceived(office) }),
    counts: async (office, { params = {} }) => [
      paginationOf(await office.send('listDeliveries', { params })).total,
      office.posts(),
    ],
    close: (office, { params }) => withoutItem(office, keys.webhook(office.organization, ulidOf(params?.id as string))),
    refused: 'not_found',
    remove: ({ send }, { params = {} }) => send('deleteWebhook', { params }),
  },
};

/** Tasks that were taken in hand. */
async function taskMoves({ board }: Office): Promise<number> {
  return paginationOf(await board.listTasks({ query: 'status=in_progress' })).total;
}

/** A webhook of the office's receiver. */
async function newReceived({ send, receiver }: Office): Promise<string> {
  return dataOf(await send('registerWebhook', { body: { ...newWebhook, url: receiver } })).id;
}
