import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { endpoints } from '../../../../lib/contract/endpoints.ts';
import type { ErrorCode } from '../../../../lib/contract/errors.ts';
import { ulidOf } from '../../../../lib/contract/ids.ts';
import type { Operation } from '../../../../lib/contract/routes.ts';
import { webhooksLimit } from '../../../../lib/table/deliveries/webhooks.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { dataOf, paginationOf } from '../../../api.ts';
import { newAgent } from '../../../functions/agents/test-agents.ts';
import { listed, newDelegation, newExecution, startedOf } from '../../../functions/agents/test-executions.ts';
import { faulty } from '../../../functions/agents/test-improvements.ts';
import { newWebhook } from '../../../functions/webhooks/webhook-caller.ts';
import type { Answer } from '../../../service.ts';
import type { Request, Tenant } from './tenant.ts';

/** The operations that accept an Idempotency-Key: every POST. `tsc` fails for an operation without a case below. */
export type Post = {
  [Name in Operation]: (typeof endpoints)[Name]['method'] extends 'POST' ? Name : never;
}[Operation];

/** The test case of an operation. */
export type Case = {
  /** Creates the resources that a request needs, and returns the request. */
  prepare: (tenant: Tenant) => Promise<Request>;
  /** Another valid body. */
  otherBody: Record<string, unknown>;
  /** The parameters of another valid path. */
  otherParams?: (tenant: Tenant) => Promise<Record<string, string>>;
  /** Returns numbers that each say how often the request was carried out. */
  counts: (tenant: Tenant, request: Request) => Promise<number[]>;
  /** Changes the state so that the request fails with the code `refused`; returns the function that changes it back. */
  close: (tenant: Tenant, request: Request) => Promise<() => Promise<unknown>>;
  refused: ErrorCode;
  /** Deletes the created resource, or the resource that it belongs to. */
  remove: (tenant: Tenant, request: Request, answer: Answer) => Promise<Answer>;
};

/** Returns the number of changes of an agent. */
const changes = async ({ agents }: Tenant, name = 'writer'): Promise<number> =>
  Number(JSON.parse((await agents.get(name)).headers.ETag ?? '"1"')) - 1;

/** Deletes an agent; returns the function that creates it again. */
async function withoutAgent({ agents }: Tenant, name: string) {
  await agents.delete(name);
  return () => agents.put({ name });
}

/** Deletes an item; returns the function that puts it back. */
async function withoutItem({ service: { table } }: Tenant, Key: { pk: string; sk: string }) {
  const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key, ConsistentRead: true }));
  await table.client.send(new DeleteCommand({ TableName: table.name, Key }));
  return () => table.client.send(new PutCommand({ TableName: table.name, Item }));
}

/** Starts executions up to the limit; returns the function that ends them. */
async function crowded(tenant: Tenant) {
  const running: string[] = [];
  for (;;) {
    const answer = await tenant.execute(newExecution, { name: 'qa-reviewer' });
    if (answer.status !== 200) break;
    running.push(startedOf(answer).executionId);
  }
  return () => Promise.all(running.map((id) => tenant.carryOut(id)));
}

/** Sets the count of webhooks to the limit; returns the function that resets it. */
async function full({ organization, service: { table } }: Tenant) {
  const Item = { ...keys.webhookCount(organization), count: webhooksLimit };
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
  return () => table.client.send(new PutCommand({ TableName: table.name, Item: { ...Item, count: 0 } }));
}

/** The case of each operation. */
export const cases: Record<Post, Case> = {
  createTask: {
    prepare: async ({ agents }) => {
      await agents.put({ name: 'helper' });
      return { body: { title: 'Once', assignedAgent: 'helper' } };
    },
    otherBody: { title: 'Twice' },
    counts: async ({ tasks }) => [paginationOf(await tasks.listTasks()).total],
    close: (tenant) => withoutAgent(tenant, 'helper'),
    refused: 'unknown_reference',
    remove: ({ tasks }, _, answer) => tasks.deleteTask({ params: { id: dataOf(answer).id } }),
  },
  createAgent: {
    prepare: async () => ({ body: newAgent }),
    otherBody: { ...newAgent, name: 'other' },
    counts: async ({ agents }) => [paginationOf(await agents.list('category=business')).total],
    close: async ({ agents }) => {
      await agents.create();
      return () => agents.delete('writer');
    },
    refused: 'name_taken',
    remove: ({ agents }) => agents.delete('writer'),
  },
  assignSkill: {
    prepare: async ({ agents }) => ({
      params: { name: await agents.put() },
      body: { skillId: 'sk_code-review' },
    }),
    otherBody: { skillId: 'sk_release-notes' },
    otherParams: async () => ({ name: 'qa-reviewer' }),
    counts: async (tenant) => [await changes(tenant), (await tenant.agents.skillsOf('writer')).length],
    close: (tenant) => withoutAgent(tenant, 'writer'),
    refused: 'not_found',
    remove: ({ agents }) => agents.unassign('writer', 'sk_code-review'),
  },
  executeAgent: {
    prepare: async ({ tasks, agents }) => ({
      params: { name: await agents.put() },
      body: { ...newExecution, taskId: await tasks.put() },
    }),
    otherBody: { input: 'Write a sonnet.' },
    otherParams: async () => ({ name: 'qa-reviewer' }),
    counts: async (tenant) => [listed(await tenant.listOf('writer'))[1], await taskMoves(tenant)],
    close: crowded,
    refused: 'rate_limited',
    remove: ({ agents }) => agents.delete('writer'),
  },
  delegateTask: {
    prepare: async ({ tasks, agents }) => {
      await agents.put({ name: 'reader' });
      return { params: { name: await agents.put() }, body: { ...newDelegation, taskId: await tasks.put() } };
    },
    otherBody: { ...newDelegation, instruction: 'Read it in silence.' },
    otherParams: async () => ({ name: 'qa-reviewer' }),
    counts: async (tenant) => [listed(await tenant.listOf('reader'))[1], await taskMoves(tenant)],
    close: async ({ agents }) => {
      await agents.update('reader', { status: 'inactive' });
      return () => agents.update('reader', { status: 'active' });
    },
    refused: 'agent_not_active',
    remove: ({ agents }) => agents.delete('reader'),
  },
  selfImproveAgent: {
    prepare: async (tenant) => {
      const name = await tenant.agents.put({ systemPrompt: 'Write.' });
      await tenant.carryOut(await tenant.start(), faulty);
      return { params: { name }, body: { lookbackExecutions: 5 } };
    },
    otherBody: { focusArea: 'Sources' },
    otherParams: async () => ({ name: 'qa-reviewer' }),
    counts: async (tenant) => [await changes(tenant), tenant.proposals()],
    close: (tenant) => withoutAgent(tenant, 'writer'),
    refused: 'not_found',
    remove: ({ agents }) => agents.delete('writer'),
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
    prepare: async (tenant) => ({ params: { id: await newReceived(tenant) }, body: { event: 'task.created' } }),
    otherBody: { event: 'agent.failed' },
    otherParams: async (tenant) => ({ id: await newReceived(tenant) }),
    counts: async (tenant, { params = {} }) => [
      paginationOf(await tenant.send('listDeliveries', { params })).total,
      tenant.posts(),
    ],
    close: (tenant, { params }) => withoutItem(tenant, keys.webhook(tenant.organization, ulidOf(params?.id as string))),
    refused: 'not_found',
    remove: ({ send }, { params = {} }) => send('deleteWebhook', { params }),
  },
};

/** Returns the number of tasks in progress. */
async function taskMoves({ tasks }: Tenant): Promise<number> {
  return paginationOf(await tasks.listTasks({ query: 'status=in_progress' })).total;
}

/** Registers a webhook for the receiver of the tenant. */
async function newReceived({ send, receiver }: Tenant): Promise<string> {
  return dataOf(await send('registerWebhook', { body: { ...newWebhook, url: receiver } })).id;
}
