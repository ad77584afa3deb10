import { gunzipSync } from 'node:zlib';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { contextOf, loadHandler } from '../../../infra/local/functions.ts';
import { readSkills } from '../../../lib/agents/skill-catalogue.ts';
import { NewAgent } from '../../../lib/contract/agents/agents.ts';
import { type Endpoint, scopes } from '../../../lib/contract/endpoint.ts';
import { endpoints } from '../../../lib/contract/endpoints.ts';
import { NewExecution } from '../../../lib/contract/executions/executions.ts';
import { fileNameOf, functionFolderOf, functionNameOf, type Operation, routes } from '../../../lib/contract/routes.ts';
import { NewTask } from '../../../lib/contract/tasks/tasks.ts';
import { eventNames } from '../../../lib/contract/webhooks/events.ts';
import { NewWebhook } from '../../../lib/contract/webhooks/webhooks.ts';
import { longestOutputPayload } from '../../../lib/executions/run/output-size.ts';
import type { ApiResult } from '../../../lib/http/api-event.ts';
import { envelope } from '../../../lib/http/middleware/envelope.ts';
import { fittingItems, payloadBytes, payloadLimit } from '../../../lib/http/middleware/payload.ts';
import { webhooksLimit } from '../../../lib/table/webhooks/webhooks.ts';
import { countedAgentsLimit } from '../../../lib/tasks/task-counts.ts';
import { maxDetails } from '../../../lib/webhooks/delivery-details.ts';
import { eventOf } from '../../service.ts';
import { costliest, largest } from '../largest.ts';

const id = (prefix: string) => `${prefix}_01K9Z3T6V0QW8E5R7T9Y1AB2CD`;
const time = '2026-11-14T09:30:00.000Z';
const times = { createdAt: time, updatedAt: time, startedAt: time, completedAt: time, deliveredAt: time };
const most = Number.MAX_SAFE_INTEGER;
/** Longer than any error of an attempt or an execution: these are fixed texts, apart from a code or a host name. */
const sentence = 'x'.repeat(1_000);

const inputOf = <Input>(schema: v.GenericSchema<Input>) => largest<Input>(schema);

const task = { ...inputOf(NewTask), ...times, id: id('tk') };
const reference = { id: id('tk'), title: task.title, status: 'up_for_review' };
const references = (task.dependsOn ?? []).map(() => reference);
const agent = { ...inputOf(NewAgent), ...times, id: id('ag'), isSystem: false };
const webhook = { ...inputOf(NewWebhook), ...times, lastDeliveryAt: time, id: id('wh') };
const skills = readSkills().map((skill) => ({ ...skill, assignedAt: time }));
const ofExecution = { agentName: agent.name, taskId: id('tk'), status: 'completed', durationMs: most };
const listed = { ...times, id: id('ex'), ...ofExecution };
const listedWithSubject = { ...listed, inputStart: costliest.repeat(200), taskTitle: task.title };
const execution = {
  ...listed,
  input: inputOf(NewExecution).input,
  output: costliest.repeat(Math.floor(longestOutputPayload / 7) - 1),
  qualityGates: { selfTest: 'skipped', qaReview: 'skipped' },
  ...{ tokensUsed: most, model: agent.model, error: sentence, delegationId: id('dl') },
};
const attempt = {
  ...{ ...times, id: id('dlv'), deliveryId: id('dlv'), attempt: 4, event: 'task.status_changed' },
  ...{ httpStatus: 599, durationMs: most, redelivery: true, error: sentence, test: true },
};
const event = {
  ...{ id: id('ev'), event: 'task.status_changed', occurredAt: time },
  data: {
    task: {
      ...{ id: task.id, title: task.title, previousStatus: 'up_for_review', status: 'up_for_review' },
      ...{ assignedAgent: agent.name, projectId: task.projectId },
    },
    occurredAt: time,
  },
};
const eventDelivery = { webhookId: id('wh'), deliveryId: id('dlv'), state: 'delivered', attempts: most };

const attemptDetail = {
  ...attempt,
  address: 'f'.repeat(39),
  phases: { dns: most, connect: most, tls: most, firstByte: most },
  requestHeaders: {
    Host: 'h'.repeat(253),
    ...Object.fromEntries(Array.from({ length: 9 }, (_, nth) => [`X-${nth}`, time])),
  },
  responseHeaders: { x: '"'.repeat(2 * 1024) },
  responseBody: costliest.repeat(4 * 1024),
  truncated: true,
};

const largestItems: Partial<Record<Operation, object>> = {
  listTasks: { ...task, blockedBy: references },
  listAgents: agent,
  listExecutions: listedWithSubject,
  listAgentExecutions: listedWithSubject,
  listDeliveries: attempt,
};

const metrics = {
  period: '90d',
  executions: { total: most, completed: most, failed: most, running: most, successRate: 1 / 3 },
  performance: { avgDurationMs: most, p50DurationMs: most, p95DurationMs: most },
  tokens: { total: most, avgPerExecution: most },
  series: Array.from({ length: 90 }, () => ({
    ...{ date: '2026-11-14', total: most, failed: most, tokens: most },
    ...{ p50DurationMs: most, p95DurationMs: most },
  })),
};

const largestReads: Partial<Record<Operation, unknown>> = {
  getTask: { data: { ...task, dependsOn: references, blockedBy: references }, version: most },
  getAgent: { data: agent, version: most },
  listReadyTasks: Array.from({ length: 100 }, () => task),
  searchTasks: { items: Array.from({ length: 100 }, () => task), next: null },
  listSkills: skills,
  listSkillCatalogue: skills,
  getExecution: execution,
  countTasks: {
    ...{ groupBy: 'assigned_agent', total: most },
    groups: Array.from({ length: countedAgentsLimit + 1 }, () => ({ value: agent.name, count: most })),
  },
  getMe: {
    organization: 'o'.repeat(64),
    token: { id: 'i'.repeat(12), name: '\u{10ffff}'.repeat(64), createdAt: time },
    scopes,
    simulatedModel: false,
  },
  getMetrics: { agentName: agent.name, prompt: `sha256:${'f'.repeat(64)}`, ...metrics },
  getExecutionMetrics: { ...metrics, runningLimit: most },
  getPrompt: {
    ...{ hash: `sha256:${'f'.repeat(64)}`, version: most, createdAt: time, source: 'self-improve' },
    ...{ changesSummary: costliest.repeat(500), systemPrompt: costliest.repeat(50_000) },
  },
  listWebhooks: Array.from({ length: webhooksLimit }, () => webhook),
  getWebhook: { data: webhook, version: most },
  getDelivery: {
    ...{ deliveryId: id('dlv'), eventId: id('ev'), event: 'agent.failed', state: 'exhausted', nextAttemptAt: time },
    // Longer than the data of any event, whose longest text is an error.
    body: costliest.repeat(20_000),
    attempts: Array.from({ length: maxDetails }, () => attemptDetail),
  },
  listEvents: { items: Array.from({ length: 100 }, () => event), next: event.id },
  listWebhookEvents: {
    items: Array.from({ length: 100 }, () => ({
      ...{
        eventId: event.id,
        event: 'task.status_changed',
        occurredAt: time,
        deliveryId: id('dlv'),
        state: 'retrying',
      },
      ...{ attempts: most, firstAttemptAt: time, lastAttemptAt: time, nextAttemptAt: time, httpStatus: 403 },
      ...{ error: sentence, hint: 'unsigned', taskId: id('tk'), executionId: id('ex') },
      ...{ taskTitle: task.title, agentName: agent.name },
    })),
    next: event.id,
  },
  getEvent: { ...event, deliveries: Array.from({ length: webhooksLimit }, () => eventDelivery) },
  getRecovery: {
    ...{ id: id('rc'), webhookId: id('wh'), status: 'completed' },
    ...{ events: eventNames, include: ['exhausted', 'skipped', 'never_sent'] },
    ...{ since: time, until: time, createdAt: time, completedAt: time },
    ...{ matched: most, sent: most, delivered: most, failed: most },
  },
};

type Page = { data: { id: string }[]; pagination: { limit: number; offset: number; total: number } };

async function respond(operation: string, returned: unknown, query = {}, headers = {}): Promise<ApiResult> {
  const row: Endpoint = endpoints[operation as Operation];
  const event = { ...eventOf({ headers }), state: { query } };
  const request = { event, response: returned } as never;
  await envelope(row).after?.(request);
  return (request as { response: ApiResult }).response;
}

const bodyOf = ({ body = '', isBase64Encoded }: ApiResult): Page =>
  JSON.parse(isBase64Encoded ? gunzipSync(Buffer.from(body, 'base64')).toString() : body);

/** Returns the response with a page of a list of 250 largest items. */
function pageOf(operation: string, offset: number, headers = {}): Promise<ApiResult> {
  const item = largestItems[operation as Operation];
  const all = Array.from({ length: 250 }, (_, nth) => ({ ...item, id: `item-${nth}` }));
  const query = { limit: 100, offset };
  return respond(operation, { items: all.slice(offset, offset + 100), total: 250 }, query, headers);
}

describe('the largest inputs of these tests', () => {
  it.each([
    ['a task', NewTask, task],
    ['an agent', NewAgent, agent],
    ['a webhook', NewWebhook, webhook],
    ['an execution', NewExecution, execution],
  ])('of %s are valid, and no longer text is', (_, schema, value) => {
    const input = Object.fromEntries(Object.entries(value).filter(([name]) => name in schema.entries));
    expect(v.is(schema, input)).toBe(true);
    for (const [name, field] of Object.entries(input))
      if (typeof field === 'string') expect(v.is(schema, { ...input, [name]: `${field}a` })).toBe(false);
  });

  it('exist for every read that is not cut to a smaller page', () => {
    const reads = routes.filter(([, row]) => row.method === 'GET' && row.scope && row.paged !== true);
    expect(Object.keys(largestReads).sort()).toEqual(reads.map(([operation]) => operation).sort());
  });
});

describe.each(Object.keys(largestItems))('the largest page of %s', (operation) => {
  it('is within the limit of Lambda, and complete if the caller accepts gzip', async () => {
    const plain = await pageOf(operation, 0);
    expect(payloadBytes(plain)).toBeLessThanOrEqual(payloadLimit);
    const gzipped = await pageOf(operation, 0, { 'Accept-Encoding': 'gzip, deflate, br' });
    expect(payloadBytes(gzipped)).toBeLessThanOrEqual(payloadLimit);
    expect(bodyOf(gzipped).data).toHaveLength(100);
    expect(bodyOf(gzipped).pagination).toEqual({ limit: 100, offset: 0, total: 250 });
  });

  it('leads to every item once if the caller continues at offset + limit', async () => {
    const seen: string[] = [];
    let total = 1;
    for (let offset = 0; offset < total; ) {
      const { data, pagination } = bodyOf(await pageOf(operation, offset));
      seen.push(...data.map((item) => item.id));
      expect(pagination.offset).toBe(offset);
      expect(pagination.limit).toBeGreaterThan(0);
      offset += pagination.limit;
      total = pagination.total;
    }
    expect(seen).toEqual(Array.from({ length: 250 }, (_, nth) => `item-${nth}`));
  });
});

it('the pages of a search lead to every task once if the caller continues at next', async () => {
  const idAt = (nth: number) => `tk_${String(nth).padStart(26, '0')}`;
  const all = Array.from({ length: 250 }, (_, nth) => ({ ...task, id: idAt(nth) }));
  const seen: string[] = [];
  let next: string | null = '';
  while (next !== null) {
    const items = all.slice(seen.length, seen.length + 100);
    const whole = { items, next: seen.length + 100 < all.length ? (items.at(-1)?.id ?? null) : null };
    const page = bodyOf(await respond('searchTasks', whole, { limit: 100 })) as Page & {
      pagination: { next: string | null };
    };
    expect(page.pagination.limit).toBe(100);
    seen.push(...page.data.map((item) => item.id));
    next = page.pagination.next;
    if (next !== null) expect(next).toBe(seen.at(-1));
  }
  expect(seen).toEqual(all.map((item) => item.id));
});

it('a page that is too large ends with the last item that fits, to the byte', () => {
  const items = [costliest.repeat(100), 'x'];
  // The first item has 100 control characters of 7 bytes, two quotes of 2 bytes and a comma; the second has 1, 4 and 1.
  const leaving = (bytes: number) => ({ body: 'y'.repeat(payloadLimit - payloadBytes({ body: '' }) - bytes) });
  expect([704, 705, 710, 711].map((bytes) => fittingItems(items, leaving(bytes)))).toEqual([0, 1, 1, 2]);
});

it.each(Object.entries(largestReads))(
  'the largest response of %s is within the limit of Lambda without gzip',
  async (operation, data) => {
    const answer = await respond(operation, data);
    expect(payloadBytes(answer)).toBeLessThanOrEqual(payloadLimit);
    expect(answer.isBase64Encoded).toBeUndefined();
  },
);

it('an execution with an output from before the output limit is gzipped if the caller accepts that', async () => {
  const stored = { ...execution, output: costliest.repeat(1_000_000) };
  const answer = await respond('getExecution', stored, {}, { 'Accept-Encoding': 'gzip' });
  expect(payloadBytes(answer)).toBeLessThanOrEqual(payloadLimit);
  expect(answer.isBase64Encoded).toBe(true);
  const compressed = { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' };
  expect(answer.headers).toMatchObject({ 'Content-Type': 'application/json', ...compressed });
  expect((bodyOf(answer).data as unknown as typeof stored).output).toBe(stored.output);
});

it.each(routes.filter(([, row]) => !row.scope))(
  'the response of %s is within the limit of Lambda',
  async (operation, row) => {
    const handler = await loadHandler(functionFolderOf(row), fileNameOf(functionNameOf(operation, row)));
    const answer = await handler(eventOf({ path: row.path }), contextOf('test', 29));
    expect(payloadBytes(answer)).toBeLessThanOrEqual(payloadLimit);
  },
);
