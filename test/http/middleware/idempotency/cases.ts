import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { processContext } from '../../../../lib/context/context.ts';
import type { Agent } from '../../../../lib/contract/agents/agents.ts';
import type { Scope } from '../../../../lib/contract/endpoint.ts';
import type { endpoints } from '../../../../lib/contract/endpoints.ts';
import type { ErrorCode } from '../../../../lib/contract/errors.ts';
import { ulidOf } from '../../../../lib/contract/ids.ts';
import type { Operation } from '../../../../lib/contract/routes.ts';
import type { Task } from '../../../../lib/contract/tasks/tasks.ts';
import type { RecoveryStarted } from '../../../../lib/contract/webhooks/recoveries.ts';
import { keys } from '../../../../lib/table/access/keys.ts';
import { getItem, queryItems } from '../../../../lib/table/access/reads.ts';
import { hashOf } from '../../../../lib/table/agents/agent-items.ts';
import { insertAttempt } from '../../../../lib/table/deliveries/attempt-log.ts';
import { appendEvent } from '../../../../lib/table/events/event-log.ts';
import { webhooksLimit } from '../../../../lib/table/webhooks/webhooks.ts';
import { firstAttemptOf } from '../../../../lib/webhooks/deliveries/first-attempts.ts';
import { dataOf, paginationOf, versionOf } from '../../../api.ts';
import { newAgent } from '../../../functions/agents/test-agents.ts';
import { faulty } from '../../../functions/agents/test-improvements.ts';
import { listed, newDelegation, newExecution, startedOf } from '../../../functions/executions/test-executions.ts';
import { newWebhook } from '../../../functions/webhooks/webhook-caller.ts';
import type { Answer } from '../../../service.ts';
import { attemptFor } from '../../../table/deliveries/attempt-seed.ts';
import type { Request, Tenant } from './tenant.ts';

/**
 * The operations that accept an Idempotency-Key: every POST with a scope. `POST /mcp` passes the key on to them. `tsc` fails
 * for an operation without a case below.
 */
type Post = {
  [Name in Operation]: (typeof endpoints)[Name] extends { method: 'POST'; scope: Scope | readonly Scope[] }
    ? Name
    : never;
}[Operation];

type Case = {
  /** Creates the resources that a request needs, and returns the request. */
  prepare: (tenant: Tenant) => Promise<Request>;
  /** Absent for an operation without a body, which has `otherParams`. */
  otherBody?: Record<string, unknown>;
  otherParams?: (tenant: Tenant, request: Request) => Promise<Record<string, string>>;
  /** Returns numbers that each say how often the request was carried out. */
  counts: (tenant: Tenant, request: Request) => Promise<number[]>;
  /**
   * Changes the state so that the request fails with the code `refused`; returns the function that changes it back. Absent for a
   * request that no state makes fail.
   */
  close?: (tenant: Tenant, request: Request) => Promise<() => Promise<unknown>>;
  refused?: ErrorCode;
  /** Deletes the created resource, or the resource that it belongs to. */
  remove: (tenant: Tenant, request: Request, answer: Answer) => Promise<Answer>;
};

/** Returns the number of changes of the agent `writer`. */
const changes = async ({ agents }: Tenant): Promise<number> => (versionOf(await agents.get('writer')) ?? 1) - 1;

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

/** The body of a recovery of all deliveries that have failed. */
const exhausted = { since: '2026-01-01T00:00:00Z', include: ['exhausted'] };

/** Prepares a task that a worker has claimed, and returns the request that names the claim. */
async function claimed({ tasks }: Tenant, more: object = {}): Promise<Request> {
  const params = { id: await tasks.put() };
  const answer = await tasks.claimTask({ params, body: { worker: 'a worker' } });
  return { params, body: { claimId: dataOf<Task>(answer).claim?.id, ...more } };
}

/** Takes the task back, if it is claimed, and deletes it. */
async function removeTask({ tasks }: Tenant, { params = {} }: Request) {
  await tasks.takeBackTask({ params });
  return tasks.deleteTask({ params });
}

const taskOf = (tenant: Tenant, { params }: Request) => keys.task(tenant.organization, ulidOf(params?.id as string));

/** Puts a copy of the task, with the same claim, and returns the parameters of its path. */
async function copyOfTask(tenant: Tenant, request: Request) {
  const { table } = tenant.service;
  const key = taskOf(tenant, request);
  const sk = processContext().ulid();
  const Item = { ...(await getItem(table, key)), ...key, sk };
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
  return { id: `tk_${sk}` };
}

/** Returns by how much the version of the task is greater than the given one. */
async function versionsAfter(version: number, { tasks }: Tenant, { params = {} }: Request): Promise<number> {
  return (versionOf(await tasks.getTask({ params })) ?? version) - version;
}

/** Returns the number of comments of the task. */
async function commentsOn({ tasks }: Tenant, { params = {} }: Request): Promise<number> {
  return paginationOf(await tasks.listComments({ params })).total;
}

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
  claimTask: {
    prepare: async ({ tasks }) => ({ params: { id: await tasks.put() }, body: { worker: 'a worker' } }),
    otherParams: async ({ tasks }) => ({ id: await tasks.put() }),
    counts: async (tenant, request) => [await versionsAfter(1, tenant, request)],
    close: (tenant, request) => withoutItem(tenant, taskOf(tenant, request)),
    refused: 'not_found',
    remove: removeTask,
  },
  claimNextTask: {
    prepare: async ({ tasks }) => {
      await Promise.all([tasks.put(), tasks.put()]);
      return { body: { worker: 'a worker' } };
    },
    otherBody: { worker: 'another worker' },
    counts: async (tenant) => [await taskMoves(tenant)],
    remove: (tenant, _, answer) => removeTask(tenant, { params: { id: dataOf(answer).id } }),
  },
  renewClaim: {
    prepare: (tenant) => claimed(tenant, { note: 'Half of it.' }),
    otherParams: copyOfTask,
    counts: async ({ tasks }, { params = {} }) => [dataOf<Task>(await tasks.getTask({ params })).claim?.note ? 1 : 0],
    close: (tenant, request) => withoutItem(tenant, taskOf(tenant, request)),
    refused: 'not_found',
    remove: removeTask,
  },
  releaseTask: {
    prepare: (tenant) => claimed(tenant, { status: 'qa_review' }),
    otherParams: copyOfTask,
    counts: async (tenant, request) => [await versionsAfter(2, tenant, request)],
    close: (tenant, request) => withoutItem(tenant, taskOf(tenant, request)),
    refused: 'not_found',
    remove: removeTask,
  },
  reviewTask: {
    prepare: async ({ tasks }) => ({
      params: { id: await tasks.put({ status: 'up_for_review' }) },
      body: { decision: 'send_back', comment: 'Wider than a phone.' },
    }),
    otherParams: async ({ tasks }) => ({ id: await tasks.put({ status: 'qa_review' }) }),
    counts: async (tenant, request) => [await versionsAfter(1, tenant, request), await commentsOn(tenant, request)],
    close: (tenant, request) => withoutItem(tenant, taskOf(tenant, request)),
    refused: 'not_found',
    remove: ({ tasks }, { params = {} }) => tasks.deleteTask({ params }),
  },
  commentOnTask: {
    prepare: async ({ tasks }) => ({ params: { id: await tasks.put() }, body: { text: 'Half of it.' } }),
    otherParams: async ({ tasks }) => ({ id: await tasks.put() }),
    counts: async (tenant, request) => [await commentsOn(tenant, request)],
    close: (tenant, request) => withoutItem(tenant, taskOf(tenant, request)),
    refused: 'not_found',
    remove: ({ tasks }, { params = {} }) => tasks.deleteTask({ params }),
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
  cancelExecution: {
    prepare: newRunning,
    otherParams: async (tenant) => (await newRunning(tenant)).params,
    counts: async (tenant) => [
      listed(await tenant.listOf('writer', 'status=failed'))[1],
      paginationOf(await tenant.tasks.listTasks({ query: 'status=assigned' })).total,
    ],
    close: (tenant, { params }) =>
      withoutItem(tenant, keys.executionHead(tenant.organization, ulidOf(params?.id as string))),
    refused: 'not_found',
    remove: ({ agents }) => agents.delete('writer'),
  },
  rerunExecution: {
    prepare: newFailed,
    otherParams: async (tenant) => (await newFailed(tenant)).params,
    counts: async (tenant) => [listed(await tenant.listOf('writer', 'status=running'))[1], await taskMoves(tenant)],
    close: crowded,
    refused: 'rate_limited',
    remove: ({ agents }) => agents.delete('writer'),
  },
  restorePrompt: {
    prepare: async ({ agents }) => {
      const name = await agents.put({ systemPrompt: 'Write.' });
      await agents.update(name, { systemPrompt: 'Read.' });
      return { params: { name, hash: hashOf('Write.') } };
    },
    otherParams: async ({ agents }) => {
      const { systemPrompt } = dataOf<Agent>(await agents.get('qa-reviewer'));
      return { name: 'qa-reviewer', hash: hashOf(systemPrompt) };
    },
    // The first change is the change that the restoration takes back.
    counts: async (tenant) => [(await changes(tenant)) - 1],
    close: (tenant) => withoutItem(tenant, keys.agent(tenant.organization, 'writer')),
    refused: 'not_found',
    remove: ({ agents }) => agents.delete('writer'),
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
  rotateWebhookSecret: {
    prepare: async (tenant) => ({ params: { id: await newReceived(tenant) }, body: { secret: 'a private secret' } }),
    otherBody: { secret: 'another secret' },
    otherParams: async (tenant) => ({ id: await newReceived(tenant) }),
    counts: async (tenant, { params }) => [await rotations(tenant, params?.id as string)],
    close: (tenant, { params }) => withoutItem(tenant, keys.webhook(tenant.organization, ulidOf(params?.id as string))),
    refused: 'not_found',
    remove: ({ send }, { params = {} }) => send('deleteWebhook', { params }),
  },
  redeliverDelivery: {
    prepare: async (tenant) => ({ params: await newDelivered(tenant) }),
    otherParams: newDelivered,
    counts: async ({ service: { table }, organization }, { params }) => {
      const ulids = [ulidOf(params?.id as string), ulidOf(params?.deliveryId as string)] as const;
      const { pk, sk: from } = keys.redelivery(organization, ...ulids, 0);
      const { sk: to } = keys.redelivery(organization, ...ulids, 999);
      return [(await Array.fromAsync(queryItems(table, { pk, from, to }))).length];
    },
    close: (tenant, { params }) => withoutItem(tenant, keys.webhook(tenant.organization, ulidOf(params?.id as string))),
    refused: 'not_found',
    remove: ({ send }, { params = {} }) => send('deleteWebhook', { params: { id: params.id as string } }),
  },
  recoverWebhook: {
    prepare: async (tenant) => ({ params: { id: (await newAttempted(tenant, 'failed')).id }, body: exhausted }),
    otherBody: { ...exhausted, dryRun: true },
    otherParams: async (tenant) => ({ id: (await newAttempted(tenant, 'failed')).id }),
    counts: async ({ service: { table }, organization }, { params }) => {
      const range = keys.recoveries(organization, ulidOf(params?.id as string));
      return [(await Array.fromAsync(queryItems(table, range))).length];
    },
    close: (tenant, { params }) => withoutItem(tenant, keys.webhook(tenant.organization, ulidOf(params?.id as string))),
    refused: 'not_found',
    remove: ({ send }, { params = {} }) => send('deleteWebhook', { params }),
  },
  cancelRecovery: {
    prepare: async (tenant) => ({ params: await newRecovery(tenant) }),
    otherParams: newRecovery,
    counts: async ({ service: { table }, organization }, { params }) => {
      const ulids = [ulidOf(params?.id as string), ulidOf(params?.recoveryId as string)] as const;
      const item = await getItem(table, keys.recovery(organization, ...ulids));
      return [item?.status === 'cancelled' ? 1 : 0];
    },
    close: (tenant, { params }) => withoutItem(tenant, keys.webhook(tenant.organization, ulidOf(params?.id as string))),
    refused: 'not_found',
    remove: ({ send }, { params = {} }) => send('deleteWebhook', { params: { id: params.id as string } }),
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

export const posts = Object.entries(cases) as [Post, Case][];

/** Starts an execution of `writer` on a new task; returns the request that names it. */
async function newRunning(tenant: Tenant) {
  if ((await tenant.agents.get('writer')).status === 404) await tenant.agents.put();
  return { params: { name: 'writer', id: await tenant.start({ taskId: await tenant.tasks.put() }) } };
}

/** Starts an execution as `newRunning` does, and lets it fail, which moves its task to assigned. */
async function newFailed(tenant: Tenant) {
  const request = await newRunning(tenant);
  await tenant.carryOut(request.params.id, async () => ({ kind: 'failed', error: 'No.', tokens: 0 }));
  return request;
}

async function taskMoves({ tasks }: Tenant): Promise<number> {
  return paginationOf(await tasks.listTasks({ query: 'status=in_progress' })).total;
}

/** Returns 0 before a webhook's first secret, 1 after it and 2 after a rotation of it. */
async function rotations({ service: { table }, organization }: Tenant, id: string): Promise<number> {
  const secret = await getItem(table, keys.webhookSecret(organization, ulidOf(id)));
  return Object.keys(secret ?? {}).filter((name) => ['sealed', 'previousSecret'].includes(name)).length;
}

async function newReceived({ send, receiver }: Tenant): Promise<string> {
  return dataOf(await send('registerWebhook', { body: { ...newWebhook, url: receiver } })).id;
}

/** Registers a webhook, stores a delivery to it that has succeeded, and returns the parameters of its path. */
async function newDelivered(tenant: Tenant) {
  return newAttempted(tenant);
}

/** Registers a webhook, stores a delivery to it that has ended, and returns the parameters of its path. */
async function newAttempted(tenant: Tenant, error?: string) {
  const { organization } = tenant;
  const context = processContext();
  const [id, eventId] = [await newReceived(tenant), `ev_${context.ulid()}`];
  const event = { organization, id: eventId, event: 'task.created', item: 'tk_1', version: 1, data: '{}' } as const;
  await appendEvent(context, event);
  const first = firstAttemptOf(event, id);
  await insertAttempt(context, attemptFor(first, error === undefined ? {} : { error }));
  return { id, deliveryId: first.deliveryId };
}

/** Registers a webhook, begins a recovery of it, and returns the parameters of its path. */
async function newRecovery(tenant: Tenant) {
  const { id } = await newAttempted(tenant, 'failed');
  const { recoveryId } = dataOf<RecoveryStarted>(
    await tenant.send('recoverWebhook', { params: { id }, body: exhausted }),
  );
  return { id, recoveryId: recoveryId as string };
}
