import { gunzipSync } from 'node:zlib';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { contextOf, loadHandler } from '../../../infra/local/functions.ts';
import { readSkills } from '../../../lib/agents/skill-catalogue.ts';
import { NewAgent } from '../../../lib/contract/agents.ts';
import type { Endpoint } from '../../../lib/contract/endpoint.ts';
import { endpoints } from '../../../lib/contract/endpoints.ts';
import { NewExecution } from '../../../lib/contract/executions.ts';
import { familyOf, fileNameOf, type Operation, routes } from '../../../lib/contract/routes.ts';
import { NewTask } from '../../../lib/contract/tasks.ts';
import { NewWebhook } from '../../../lib/contract/webhooks.ts';
import { longestOutputPayload } from '../../../lib/executions/generate-output.ts';
import type { ApiResult } from '../../../lib/http/api-event.ts';
import { envelope } from '../../../lib/http/middleware/envelope.ts';
import { fittingItems, payloadBytes, payloadLimit } from '../../../lib/http/middleware/payload.ts';
import { webhooksLimit } from '../../../lib/table/deliveries/webhooks.ts';
import { eventOf } from '../../service.ts';
import { costliest, largest } from '../largest.ts';

const id = (prefix: string) => `${prefix}_01K9Z3T6V0QW8E5R7T9Y1AB2CD`;
const time = '2026-11-14T09:30:00.000Z';
const times = { createdAt: time, updatedAt: time, startedAt: time, completedAt: time, deliveredAt: time };
const most = Number.MAX_SAFE_INTEGER;
/**
 * Longer than any error message of an attempt or an execution: these are fixed texts, apart from a code or a host name.
 */
const sentence = 'x'.repeat(1_000);

const task = { ...largest<v.InferInput<typeof NewTask>>(NewTask), ...times, id: id('tk') };
const reference = { id: id('tk'), title: task.title, status: 'up_for_review' };
const references = (task.dependsOn ?? []).map(() => reference);
const agent = { ...largest<v.InferInput<typeof NewAgent>>(NewAgent), ...times, id: id('ag'), isSystem: false };
const webhook = {
  ...largest<v.InferInput<typeof NewWebhook>>(NewWebhook),
  ...times,
  lastDeliveryAt: time,
  id: id('wh'),
};
const skills = readSkills().map((skill) => ({ ...skill, assignedAt: time }));
const listed = {
  ...times,
  id: id('ex'),
  agentName: agent.name,
  taskId: id('tk'),
  status: 'completed',
  durationMs: most,
};
const execution = {
  ...listed,
  input: largest<v.InferInput<typeof NewExecution>>(NewExecution).input,
  output: costliest.repeat(Math.floor(longestOutputPayload / 7) - 1),
  tokensUsed: most,
  model: agent.model,
  qualityGates: { selfTest: 'skipped', qaReview: 'skipped' },
  error: sentence,
  delegationId: id('dl'),
};
const attempt = {
  ...times,
  id: id('dlv'),
  deliveryId: id('dlv'),
  attempt: 4,
  event: 'task.status_changed',
  httpStatus: 599,
  durationMs: most,
  redelivery: true,
  error: sentence,
};

/** The largest item of each paged list. */
const largestItems: Partial<Record<Operation, object>> = {
  listTasks: task,
  listAgents: agent,
  listExecutions: listed,
  listAgentExecutions: listed,
  listDeliveries: attempt,
};

/** The largest data of each other read. */
const largestReads: Partial<Record<Operation, unknown>> = {
  getTask: { data: { ...task, dependsOn: references, blockedBy: references }, version: most },
  getAgent: { data: agent, version: most },
  listSkills: skills,
  listSkillCatalogue: skills,
  getExecution: execution,
  getMetrics: {
    agentName: agent.name,
    period: '90d',
    executions: { total: most, completed: most, failed: most, running: most, successRate: 1 / 3 },
    performance: { avgDurationMs: most, p50DurationMs: most, p95DurationMs: most },
    tokens: { total: most, avgPerExecution: most },
  },
  listWebhooks: Array.from({ length: webhooksLimit }, () => webhook),
  getWebhook: webhook,
};

type Page = { data: { id: string }[]; pagination: { limit: number; offset: number; total: number } };

/** Returns the response of an endpoint for the result of its behaviour. */
async function respond(row: Endpoint, returned: unknown, query = {}, headers = {}): Promise<ApiResult> {
  const event = { ...eventOf({ headers }), state: { query } };
  const request = { event, response: returned } as never;
  await envelope(row).after?.(request);
  return (request as { response: ApiResult }).response;
}

const rowOf = (operation: string): Endpoint => endpoints[operation as Operation];
const bodyOf = ({ body = '', isBase64Encoded }: ApiResult): Page =>
  JSON.parse(isBase64Encoded ? gunzipSync(Buffer.from(body, 'base64')).toString() : body);

/** Returns the response with a page of a list of `total` largest items. */
function pageOf(operation: string, offset: number, { total = 250, headers = {} } = {}): Promise<ApiResult> {
  const item = largestItems[operation as Operation];
  const all = Array.from({ length: total }, (_, nth) => ({ ...item, id: `item-${nth}` }));
  const query = { limit: 100, offset };
  return respond(rowOf(operation), { items: all.slice(offset, offset + 100), total }, query, headers);
}

describe('the largest inputs of these tests', () => {
  it.each([
    ['a task', NewTask, task],
    ['an agent', NewAgent, agent],
    ['a webhook', NewWebhook, webhook],
    ['an execution', NewExecution, execution],
  ])('of %s are valid, and no longer text is', (_, schema, value) => {
    const fields = Object.entries(value).filter(([name]) => name in schema.entries);
    const input = Object.fromEntries(fields);
    expect(v.is(schema, input)).toBe(true);
    for (const [name, field] of fields)
      if (typeof field === 'string')
        expect([name, v.is(schema, { ...input, [name]: `${field}a` })]).toEqual([name, false]);
  });

  it('exist for every read that is not paged', () => {
    const reads = routes.filter(([, row]) => row.method === 'GET' && row.scope && !row.paged);
    expect(Object.keys(largestReads).sort()).toEqual(reads.map(([operation]) => operation).sort());
  });
});

describe.each(Object.keys(largestItems))('the largest page of %s', (operation) => {
  it('is within the limit of Lambda, and complete if the caller accepts gzip', async () => {
    const plain = await pageOf(operation, 0);
    expect(payloadBytes(plain)).toBeLessThanOrEqual(payloadLimit);
    const gzipped = await pageOf(operation, 0, { headers: { 'Accept-Encoding': 'gzip, deflate, br' } });
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

describe('a page that is too large', () => {
  it.each(['listTasks', 'listAgents'])('of %s has the items that fit, and their number as limit', async (operation) => {
    const { data, pagination } = bodyOf(await pageOf(operation, 0));
    expect(data.length).toBeLessThan(100);
    expect(pagination).toEqual({ limit: data.length, offset: 0, total: 250 });
    const item = largestItems[operation as Operation] as object;
    const answerTo = (number: number) =>
      respond(rowOf(operation), { items: Array(number).fill(item), total: 250 }, { limit: number, offset: 0 });
    const oneMore = await answerTo(data.length + 1);
    expect(bodyOf(oneMore).data.length).toBeLessThanOrEqual(data.length);
  });

  it('is gzipped with the headers of HTTP', async () => {
    const { headers, isBase64Encoded } = await pageOf('listTasks', 0, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(isBase64Encoded).toBe(true);
    expect(headers).toMatchObject({
      'Content-Type': 'application/json',
      'Content-Encoding': 'gzip',
      Vary: 'Accept-Encoding',
    });
  });

  it('ends with the last item that fits, to the byte', () => {
    const items = [costliest.repeat(100), 'x'];
    // The first item has 100 control characters of 7 bytes, two quotes of 2 bytes and a comma; the second has 1, 4 and 1.
    const leaving = (bytes: number) => ({ body: 'y'.repeat(payloadLimit - payloadBytes({ body: '' }) - bytes) });
    expect([704, 705, 710, 711].map((bytes) => fittingItems(items, leaving(bytes)))).toEqual([0, 1, 1, 2]);
  });
});

it.each(Object.entries(largestReads))(
  'the largest response of %s is within the limit of Lambda without gzip',
  async (operation, data) => {
    const answer = await respond(rowOf(operation), data);
    expect(payloadBytes(answer)).toBeLessThanOrEqual(payloadLimit);
    expect(answer.isBase64Encoded).toBeUndefined();
  },
);

it('an execution with an output from before the output limit is gzipped if the caller accepts that', async () => {
  const stored = { ...execution, output: costliest.repeat(1_000_000) };
  const answer = await respond(endpoints.getExecution, stored, {}, { 'Accept-Encoding': 'gzip' });
  expect(payloadBytes(answer)).toBeLessThanOrEqual(payloadLimit);
  expect((bodyOf(answer).data as unknown as typeof stored).output).toBe(stored.output);
});

it.each(routes.filter(([, row]) => !row.scope))(
  'the response of %s is within the limit of Lambda',
  async (operation, row) => {
    const handler = await loadHandler(familyOf(row), fileNameOf(operation));
    const answer = await handler(eventOf({ path: row.path }), contextOf('test', 29));
    expect(payloadBytes(answer)).toBeLessThanOrEqual(payloadLimit);
  },
);
