import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endpoints } from '../../lib/contract/endpoints.ts';
import { type Operation, routes } from '../../lib/contract/routes.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { dataOf, statusAndCodeOf } from '../api.ts';
import { changesVersion, runTogether, startEngineProxy } from '../engine-proxy.ts';
import { createTestExecutions, type ExecutionsApi } from '../functions/agents/test-executions.ts';
import type { Answer } from '../service.ts';

const { service, newExecutionsApi } = await createTestExecutions();
const engine = await startEngineProxy(service.endpoint);
process.env[environment.dynamodbEndpoint] = engine.endpoint;
afterEach(() => engine.reset());

let api: ExecutionsApi;
beforeEach(async () => {
  api = await newExecutionsApi(['tasks:read', 'tasks:write', 'agents:read', 'agents:write']);
});

/** The operations with a version. `tsc` fails for an operation without a case below. */
type Versioned = {
  [Name in Operation]: (typeof endpoints)[Name] extends { versioned: true } ? Name : never;
}[Operation];

/** The resources with a version: how to create one, and an absent one. */
const kinds = {
  task: {
    put: async () => ({ id: await api.tasks.put() }),
    absent: { id: 'tk_01K00000000000000000000000' },
    read: 'getTask',
    patch: 'updateTask',
    remove: 'deleteTask',
    /** Returns an update of each field. */
    patches: async () => [
      { title: 'New' },
      { description: 'New' },
      { status: 'qa_review' },
      { priority: 'low' },
      { assignedAgent: 'qa-reviewer' },
      { projectId: 'proj_new' },
      { dependsOn: [await api.tasks.put()] },
    ],
  },
  agent: {
    put: async () => ({ name: await api.agents.put() }),
    absent: { name: 'absent' },
    read: 'getAgent',
    patch: 'updateAgent',
    remove: 'deleteAgent',
    patches: async () => [
      { displayName: 'New' },
      { description: 'New' },
      { category: 'qa' },
      { model: 'new.model' },
      { systemPrompt: 'New.' },
      { soul: 'Newer.' },
      { capabilities: ['new'] },
      { status: 'draft' },
    ],
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
};
const changing = (Object.keys(cases) as Versioned[]).filter((operation) => endpoints[operation].method !== 'GET');
const patching = changing.filter((operation) => endpoints[operation].method === 'PATCH');
const removes = (operation: Versioned) => endpoints[operation].method === 'DELETE';

type Params = Record<string, string>;
const send = (operation: Versioned, params: Params, body?: object, ifMatch?: string) =>
  api.tasks[operation]({
    params,
    body,
    ...(ifMatch !== undefined && { headers: { 'If-Match': ifMatch } }),
  });
const read = (kind: Kind, params: Params) => send(kinds[kind].read, params);
const refused = [412, 'precondition_failed'];

it('every versioned operation of the contract has a case', () => {
  const rows = routes.filter(([, { versioned }]) => versioned).map(([operation]) => operation);
  expect(Object.keys(cases)).toEqual(rows);
});

describe.each(patching)('the ETag of %s', (operation) => {
  const { kind, one, other } = cases[operation];

  it('equals that of a read, is new after each change, and stays if nothing changes', async () => {
    const params = await kinds[kind].put();
    const tags = [(await read(kind, params)).headers.ETag];
    for (const body of [one, other]) {
      const changed = await send(operation, params, body);
      expect(changed.headers.ETag).toMatch(/^"\d+"$/);
      for (const same of [await send(operation, params, body), await read(kind, params)])
        expect(same.headers.ETag).toBe(changed.headers.ETag);
      tags.push(changed.headers.ETag);
    }
    expect(new Set(tags).size).toBe(3);
  });
});

describe.each(changing)('If-Match of %s', (operation) => {
  const { kind, one } = cases[operation];

  it.each(['"2"', '*', ' "2" ', '"7", "2"', '"2","7"'])('%s matches version 2', async (tag) => {
    const params = await kinds[kind].put();
    await send(kinds[kind].patch, params, cases[kinds[kind].patch].other);
    const answer = await send(operation, params, one, tag);
    expect(answer.status).toBe(200);
    if (!removes(operation)) expect(answer.headers.ETag).toBe('"3"');
    expect((await read(kind, params)).status).toBe(removes(operation) ? 404 : 200);
  });

  it('leads to 412 for any other tag, and nothing changes', async () => {
    const params = await kinds[kind].put();
    await send(kinds[kind].patch, params, cases[kinds[kind].patch].other);
    const before = await api.dump();
    const tags = ['"1"', '"3"', 'W/"2"', '2', '"2', "'2'", '"02"', '""', '', ' ', ',', '"7", "8"', '"7", *', 'garbage'];
    for (const tag of [...tags, 'W/"7", W/"2"', '"\u00ff"', '"2" "2"'])
      expect([tag, ...statusAndCodeOf(await send(operation, params, one, tag))]).toEqual([tag, ...refused]);
    // An update without changes gets 412 as well, because the caller has read another version.
    const same = cases[kinds[kind].patch].other;
    if (operation === kinds[kind].patch)
      expect(statusAndCodeOf(await send(operation, params, same, '"1"'))).toEqual(refused);
    expect(await api.dump()).toEqual(before);
  });

  it('leads to 404 for an absent resource with any value', async () => {
    for (const tag of ['*', '"1"', 'garbage'])
      expect(statusAndCodeOf(await send(operation, kinds[kind].absent, one, tag))).toEqual([404, 'not_found']);
  });

  it('lets only one of two concurrent requests with the same version succeed', async () => {
    const params = await kinds[kind].put();
    runTogether(engine, 2, changesVersion);
    const bodies = [one, cases[operation].other];
    const answers = await Promise.all(bodies.map((body) => send(operation, params, body, '"1"')));
    const [won, lost] = answers.toSorted((a, b) => a.status - b.status) as [Answer, Answer];
    expect(won.status).toBe(200);
    expect(statusAndCodeOf(lost)).toEqual(removes(operation) ? [404, 'not_found'] : refused);
    if (removes(operation)) return;
    const now = await read(kind, params);
    expect(now.headers.ETag).toBe('"2"');
    expect(dataOf(now)).toMatchObject(bodies[answers.indexOf(won)] ?? {});
    expect(dataOf(now)).not.toMatchObject(bodies[answers.indexOf(lost)] ?? {});
  });

  const others = changing.filter((other) => cases[other].kind === kind);
  it.each(others)('leads to an error if %s is carried out between the read and the write', async (other) => {
    const params = await kinds[kind].put();
    let between: Answer | undefined;
    let left: unknown;
    engine.before = async (asked) => {
      if (!changesVersion(asked)) return;
      engine.reset();
      between = await send(other, params, cases[other].other, '"1"');
      left = await api.dump();
    };
    const late = await send(operation, params, one, '"1"');
    expect(between?.status).toBe(200);
    expect(statusAndCodeOf(late)).toEqual(removes(other) ? [404, 'not_found'] : refused);
    expect(await api.dump()).toEqual(left);
  });
});

describe.each(['task', 'agent'] as const)('without If-Match, changes of a %s', (kind) => {
  const { put, patches, patch } = kinds[kind];

  it('of every field, all made concurrently, all take effect', async () => {
    const [params, all] = [await put(), await patches()];
    runTogether(engine, all.length, changesVersion);
    const answers = await Promise.all(all.map((body) => send(patch, params, body)));
    expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(new Set(answers.map(({ headers }) => headers.ETag)).size).toBe(all.length);
    const now = await read(kind, params);
    expect(now.headers.ETag).toBe(`"${all.length + 1}"`);
    const { dependsOn, ...fields } = Object.assign({}, ...all);
    expect(dataOf(now)).toMatchObject({
      ...fields,
      ...(dependsOn && { dependsOn: dependsOn.map((id: string) => ({ id })) }),
    });
  });
});

it('concurrent updates of the soul and of other fields both take effect', async () => {
  const params = await kinds.agent.put();
  runTogether(engine, 2, changesVersion);
  const others = { systemPrompt: 'Write.', displayName: 'New' };
  const answers = await Promise.all([
    send('updateSoul', params, { soul: 'Kind.' }),
    send('updateAgent', params, others),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(dataOf(await read('agent', params))).toMatchObject({ soul: 'Kind.', ...others });
});

describe('If-Match is checked', () => {
  const otherVersion = '"7"';

  // test/http/serve.test.ts has its place before other checks of tasks.
  it('before a dependency cycle (409)', async () => {
    const params = await kinds.task.put();
    const dependsOn = [await api.tasks.put({ dependsOn: [params.id] })];
    await api.refuses(() => send('updateTask', params, { dependsOn }, otherVersion), 412, 'precondition_failed');
    expect((await send('updateTask', params, { dependsOn }, '"1"')).status).toBe(409);
  });

  it('before system agents (403)', async () => {
    const params = { name: 'qa-reviewer' };
    await api.refuses(() => send('deleteAgent', params, undefined, otherVersion), 412, 'precondition_failed');
    await api.refuses(() => send('deleteAgent', params, undefined, '*'), 403, 'system_agent');
  });

  it('only by changes, not by reads', async () => {
    expect((await send('getTask', await kinds.task.put(), undefined, otherVersion)).status).toBe(200);
  });
});
