import { beforeAll, describe, expect, it } from 'vitest';
import { standardModel } from '../../lib/contract/agents/models.ts';
import { endpoints } from '../../lib/contract/endpoints.ts';
import type { Operation } from '../../lib/contract/routes.ts';
import type { Schema } from '../../lib/contract/shapes.ts';
import { standaloneSchemaOf } from '../../lib/openapi/schemas.ts';
import { successOf } from '../api.ts';
import { fc } from '../seeded.ts';
import { valuesOf } from '../values/json-values.ts';
import { createWebhookCallers, newWebhook } from './webhooks/webhook-caller.ts';

type Fields = Record<string, unknown>;

/** How a resource with a PATCH is created and read. */
type Resource = {
  create: () => Promise<{ id?: string; name?: string }>;
  read: Operation;
  /** Values of fields that name something that has to exist. */
  existing?: () => Fields;
  /** What the resource has after `null`, for fields that it always has. */
  emptied?: Fields;
  /** Returns the fields of the resource in the form of the request. */
  asSent?: (data: Fields) => Fields;
};

const caller = await (await createWebhookCallers()).newWebhookCaller();
let dependencies: string[] = [];

beforeAll(async () => {
  const created = await Promise.all(['a', 'b', 'c'].map((title) => caller.createTask({ body: { title } })));
  dependencies = created.map((answer) => successOf(answer).id);
});

const newAgent = { name: 'writer', displayName: 'Writer', category: 'development' };
const task = {
  create: async () => successOf(await caller.createTask({ body: { title: 'A task' } })),
  read: 'getTask',
  existing: () => ({
    assignedAgent: fc.constantFrom('qa-reviewer', 'prompt-improver'),
    dependsOn: fc.uniqueArray(fc.constantFrom(...dependencies)),
  }),
  asSent: ({ dependsOn, ...fields }) => ({ ...fields, dependsOn: (dependsOn as { id: string }[]).map(({ id }) => id) }),
} as const satisfies Resource;
let made = 0;
const agent = {
  create: async () =>
    successOf<{ name: string }>(await caller.createAgent({ body: { ...newAgent, name: `writer-${++made}` } })),
  read: 'getAgent',
  emptied: { systemPrompt: '', soul: '', model: standardModel },
} as const satisfies Resource;
const webhook = {
  create: async () => successOf<{ id: string }>(await caller.registerWebhook({ body: newWebhook })),
  read: 'getWebhook',
} as const satisfies Resource;

const resources: Partial<Record<Operation, Resource>> = {
  updateTask: task,
  updateAgent: agent,
  updateSoul: agent,
  updateWebhook: webhook,
};

const patches = (Object.entries(endpoints) as [Operation, { method: string; body?: Schema }][]).filter(
  // A comment has one field, and only its list is read: comments.test.ts tests it.
  ([operation, { method }]) => method === 'PATCH' && operation !== 'updateComment',
);

describe.each(patches)('%s', (operation, { body }) => {
  const { properties: accepted, required = [] } = standaloneSchemaOf(body as Schema) as {
    properties: Record<string, { anyOf?: { type?: string }[] }>;
    required?: string[];
  };
  // It is no field of the task: it says who changes the task.
  const { claimId, ...properties } = accepted;
  const { create, read, existing, emptied = {}, asSent = (data) => data } = resources[operation] as Resource;

  it('each field that it accepts is in the next read, and gone after null', async () => {
    const fields = { ...Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, valuesOf(one)])) };
    const patch = fc.record({ ...fields, ...(existing?.() as typeof fields) }, { requiredKeys: required });
    const nullable = Object.keys(properties).filter((name) =>
      properties[name]?.anyOf?.some(({ type }) => type === 'null'),
    );
    const { id, name } = await create();
    const params = { id, name } as Record<string, string>;
    const shown = async () => asSent(successOf<Fields>(await caller[read]({ params })));
    const seen = new Set<string>();
    const change = async (sent: Fields) => {
      const before = await shown();
      successOf(await caller[operation]({ params, body: sent }));
      const after = await shown();
      for (const [field, value] of Object.entries(sent)) {
        seen.add(`${field} ${value === null}`);
        expect([field, after[field]]).toEqual([field, value === null ? emptied[field] : value]);
      }
      // The service sets these itself.
      const derived = ['updatedAt', 'blockedBy'];
      for (const field of Object.keys({ ...before, ...after }).filter(
        (one) => !(one in sent) && !derived.includes(one),
      ))
        expect([field, after[field]]).toEqual([field, before[field]]);
    };
    await fc.assert(
      fc.asyncProperty(patch, fc.subarray(nullable), async (sent, cleared) => {
        await change(sent);
        if (cleared.length > 0) await change(Object.fromEntries(cleared.map((field) => [field, null])));
      }),
      { numRuns: 25 },
    );
    await change(patchOfAll(fields, existing));
    if (nullable.length > 0) await change(Object.fromEntries(nullable.map((field) => [field, null])));
    const all = [
      ...Object.keys(properties).map((field) => `${field} false`),
      ...nullable.map((field) => `${field} true`),
    ];
    expect([...seen].sort()).toEqual(all.sort());
  });
});

/** Returns a value of each field. */
function patchOfAll(fields: Fields, existing: Resource['existing']): Fields {
  const all = { ...fields, ...existing?.() } as Record<string, ReturnType<typeof valuesOf>>;
  return Object.fromEntries(Object.entries(all).map(([name, values]) => [name, fc.sample(values, 1)[0]]));
}
