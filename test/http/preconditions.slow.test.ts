import { beforeEach, describe, expect, it } from 'vitest';
import { endpoints } from '../../lib/contract/endpoints.ts';
import type { Operation } from '../../lib/contract/routes.ts';
import { dataOf, statusAndCodeOf, tagOf, versionOf } from '../api.ts';
import { newWebhook } from '../functions/webhooks/webhook-caller.ts';
import type { Answer } from '../service.ts';
import { changesVersion, runTogether } from '../table/fixtures/table-server.ts';
import { createTenants, type Tenant } from './middleware/idempotency/tenant.ts';

const { newTenant, engine } = await createTenants();
let api: Tenant;
beforeEach(async () => {
  api = await newTenant();
});

/**
 * The operations with a version. `tsc` fails for an operation without a case below. A restoration needs a former prompt;
 * test/functions/agents/prompts.test.ts has its cases.
 */
type Versioned = Exclude<
  { [Name in Operation]: (typeof endpoints)[Name] extends { versioned: true } ? Name : never }[Operation],
  'restorePrompt'
>;

/** The resources with a version: how to create one, and an absent one. */
const kinds = {
  task: {
    put: async () => ({ id: await api.tasks.put() }),
    absent: { id: 'tk_01K00000000000000000000000' },
    read: 'getTask',
    patch: 'updateTask',
    /** Returns a new value of each field. */
    fields: async () => ({
      ...{ title: 'New', description: 'New', status: 'qa_review', priority: 'low', assignedAgent: 'qa-reviewer' },
      ...{ projectId: 'proj_new', dependsOn: [await api.tasks.put()] },
    }),
  },
  agent: {
    put: async () => ({ name: await api.agents.put() }),
    absent: { name: 'absent' },
    read: 'getAgent',
    patch: 'updateAgent',
    fields: async () => ({
      ...{ displayName: 'New', description: 'New', category: 'qa', model: 'new.model', systemPrompt: 'New.' },
      ...{ soul: 'Newer.', capabilities: ['new'], status: 'draft' },
    }),
  },
  webhook: {
    put: async () => ({ id: dataOf(await api.send('registerWebhook', { body: newWebhook })).id as string }),
    absent: { id: 'wh_01K00000000000000000000000' },
    read: 'getWebhook',
    patch: 'updateWebhook',
    fields: async () => ({ url: 'https://example.com/new', events: ['agent.failed'], description: 'New' }),
  },
} as const;
type Kind = keyof typeof kinds;

/** The resource of each operation with a version, and two bodies that change it. */
const cases: Record<Versioned, { kind: Kind; one?: object; other?: object }> = {
  getTask: { kind: 'task' },
  updateTask: { kind: 'task', one: { title: 'One' }, other: { title: 'Other', status: 'done' } },
  deleteTask: { kind: 'task' },
  getAgent: { kind: 'agent' },
  updateAgent: { kind: 'agent', one: { displayName: 'One' }, other: { systemPrompt: 'Other.' } },
  deleteAgent: { kind: 'agent' },
  updateSoul: { kind: 'agent', one: { soul: 'One.' }, other: { soul: 'Other.' } },
  getWebhook: { kind: 'webhook' },
  updateWebhook: {
    kind: 'webhook',
    one: { url: 'https://example.com/one' },
    other: { events: ['task.completed', 'agent.failed'] },
  },
  deleteWebhook: { kind: 'webhook' },
};
const changing = (Object.keys(cases) as Versioned[]).filter((operation) => endpoints[operation].method !== 'GET');
const patching = changing.filter((operation) => endpoints[operation].method === 'PATCH');
const removes = (operation: Versioned) => endpoints[operation].method === 'DELETE';

type Params = Record<string, string>;
const send = (operation: Versioned, params: Params, body?: object, ifMatch?: string) =>
  api.send(operation, { params, body }, ifMatch === undefined ? {} : { ifMatch });
const read = (kind: Kind, params: Params) => send(kinds[kind].read, params);
const refused = [412, 'precondition_failed'];

/** Returns the ETag of a version of a resource. */
const tagFor = async (kind: Kind, params: Params, version: number) => tagOf(await read(kind, params), version);

describe.each(patching)('the ETag of %s', (operation) => {
  const { kind, one, other } = cases[operation];

  it('equals that of a read, is new after each change, and stays if nothing changes', async () => {
    const params = await kinds[kind].put();
    const tags = [(await read(kind, params)).headers.ETag];
    for (const body of [one, other]) {
      const changed = await send(operation, params, body);
      expect(changed.headers.ETag).toMatch(/^"[\w-]{16}"$/);
      for (const same of [await send(operation, params, body), await read(kind, params)])
        expect(same.headers.ETag).toBe(changed.headers.ETag);
      tags.push(changed.headers.ETag);
    }
    expect(new Set(tags).size).toBe(3);
  });
});

describe.each(changing)('If-Match of %s', (operation) => {
  const { kind, one } = cases[operation];

  /** Returns a header in which each number stands for the ETag of that version, without its quotes. */
  const headerFrom = (pattern: string, changed: Answer) =>
    pattern.replaceAll(/\d/g, (version) => tagOf(changed, Number(version)).slice(1, -1));

  it.each(['"2"', '*', ' "2" ', '"7", "2"', '"2","7"'])('%s matches version 2', async (pattern) => {
    const params = await kinds[kind].put();
    const changed = await send(kinds[kind].patch, params, cases[kinds[kind].patch].other);
    const answer = await send(operation, params, one, headerFrom(pattern, changed));
    expect(answer.status).toBe(200);
    if (!removes(operation)) expect(versionOf(answer)).toBe(3);
    expect((await read(kind, params)).status).toBe(removes(operation) ? 404 : 200);
  });

  it('leads to 412 for any other tag, and nothing changes', async () => {
    const params = await kinds[kind].put();
    const changed = await send(kinds[kind].patch, params, cases[kinds[kind].patch].other);
    const before = await api.dump();
    const patterns = ['"1"', '"3"', 'W/"2"', '2', '"2', "'2'", '"02"', '""', '', ' ', ',', '"7", "8"', '"7", *'];
    const tags = [...patterns, 'garbage', 'W/"7", W/"2"', '"\u00ff"', '"2" "2"'].map((one) => headerFrom(one, changed));
    // Version 0.2.0 sent the plain version.
    for (const tag of [...tags, '"2"'])
      expect([tag, ...statusAndCodeOf(await send(operation, params, one, tag))]).toEqual([tag, ...refused]);
    // An update without changes gets 412 as well, because the caller has read another version.
    const same = cases[kinds[kind].patch].other;
    if (operation === kinds[kind].patch)
      expect(statusAndCodeOf(await send(operation, params, same, tagOf(changed, 1)))).toEqual(refused);
    expect(await api.dump()).toEqual(before);
  });

  it('leads to 404 for an absent resource with any value', async () => {
    for (const tag of ['*', '"1"', 'garbage'])
      expect(statusAndCodeOf(await send(operation, kinds[kind].absent, one, tag))).toEqual([404, 'not_found']);
  });

  it('lets only one of two concurrent requests with the same version succeed', async () => {
    const params = await kinds[kind].put();
    const tag = await tagFor(kind, params, 1);
    runTogether(engine, 2, changesVersion);
    const bodies = [one, cases[operation].other];
    const answers = await Promise.all(bodies.map((body) => send(operation, params, body, tag)));
    const [won, lost] = answers.toSorted((a, b) => a.status - b.status) as [Answer, Answer];
    expect(won.status).toBe(200);
    expect(statusAndCodeOf(lost)).toEqual(removes(operation) ? [404, 'not_found'] : refused);
    if (removes(operation)) return;
    const now = await read(kind, params);
    expect(versionOf(now)).toBe(2);
    expect(dataOf(now)).toMatchObject(bodies[answers.indexOf(won)] ?? {});
    expect(dataOf(now)).not.toMatchObject(bodies[answers.indexOf(lost)] ?? {});
  });

  const others = changing.filter((other) => cases[other].kind === kind);
  it.each(others)('leads to an error if %s is carried out between the read and the write', async (other) => {
    const params = await kinds[kind].put();
    const tag = await tagFor(kind, params, 1);
    let between: Answer | undefined;
    let left: unknown;
    engine.before = async (asked) => {
      if (!changesVersion(asked)) return;
      engine.reset();
      between = await send(other, params, cases[other].other, tag);
      left = await api.dump();
    };
    const late = await send(operation, params, one, tag);
    expect(between?.status).toBe(200);
    expect(statusAndCodeOf(late)).toEqual(removes(other) ? [404, 'not_found'] : refused);
    expect(await api.dump()).toEqual(left);
  });
});

it.each(['task', 'agent', 'webhook'] as const)(
  'without If-Match, concurrent changes of all fields take effect: %s',
  async (kind) => {
    const { put, fields, patch } = kinds[kind];
    const params = await put();
    const all = Object.entries(await fields());
    runTogether(engine, all.length, changesVersion);
    const answers = await Promise.all(
      all.map(([name, value]) => send(name === 'soul' ? 'updateSoul' : patch, params, { [name]: value })),
    );
    expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(new Set(answers.map(({ headers }) => headers.ETag)).size).toBe(all.length);
    const now = await read(kind, params);
    expect(versionOf(now)).toBe(all.length + 1);
    const withReferences = all.map(([name, value]) => [name, name === 'dependsOn' ? [{ id: value[0] }] : value]);
    expect(dataOf(now)).toMatchObject(Object.fromEntries(withReferences));
  },
);

describe('If-Match is checked', () => {
  const otherVersion = '"7"';

  // test/http/serve.test.ts has its place before other checks of tasks.
  it('before system agents (403)', async () => {
    const params = { name: 'qa-reviewer' };
    await api.refuses(() => send('deleteAgent', params, undefined, otherVersion), 412, 'precondition_failed');
    await api.refuses(() => send('deleteAgent', params, undefined, '*'), 403, 'system_agent');
  });

  it('against the id too: not the ETag of a deleted agent for its successor of the same name', async () => {
    const params = { name: await api.agents.put() };
    const former = await tagFor('agent', params, 1);
    await send('deleteAgent', params);
    await api.agents.put();
    const before = await api.dump();
    for (const operation of ['updateAgent', 'updateSoul', 'deleteAgent'] as const)
      await api.refuses(() => send(operation, params, cases[operation].one, former), 412, 'precondition_failed');
    expect(await api.dump()).toEqual(before);
    expect(statusAndCodeOf(await send('deleteAgent', params, undefined, await tagFor('agent', params, 1)))).toEqual([
      200,
      undefined,
    ]);
  });

  it('only by changes, not by reads', async () => {
    expect((await send('getTask', await kinds.task.put(), undefined, otherVersion)).status).toBe(200);
  });
});
