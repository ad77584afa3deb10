import { afterAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../infra/local/gateway.ts';
import { processContext } from '../../lib/context/context.ts';
import type { Endpoint, Scope } from '../../lib/contract/endpoint.ts';
import { isOfferedAsTool } from '../../lib/contract/open/mcp.ts';
import { routes } from '../../lib/contract/routes.ts';
import { toolOf } from '../../lib/tools/tool-definitions.ts';
import { createApi, dataOf, type ErrorBody, errorOf, paginationOf } from '../api.ts';
import { newCaller, openService, pointFunctionsAt } from '../service.ts';
import { callTool, connect, revisions } from './mcp-client.ts';

pointFunctionsAt(await openService());
const gateway = await startGateway(0);
afterAll(() => gateway.stop());

const unknownTask = 'tk_01K9Z3T6V0QW8E5R7T9Y1AB2CD';

type Created = { data: { id: string } };
type Changed = { data: { id: string }; etag: string; note?: string };
type Failed = { error: ErrorBody & { retryAfterSeconds?: number } };

/** Creates an organization, and returns an address for clients and a caller of the API. */
async function newOrganization(scopes?: readonly Scope[]) {
  const { token } = await newCaller(processContext(), scopes);
  return { address: { url: gateway.url, token }, api: createApi(token) };
}

const offered = routes.filter(([, row]) => isOfferedAsTool(row));

it('every operation is offered as a tool but those that use secrets, ask models, change webhooks or are for people', () => {
  const others = routes.filter(
    ([, row]: readonly [string, Endpoint]) => row.scope && !row.offersTools && !isOfferedAsTool(row),
  );
  const names = others.map(([operation]) => operation);
  expect(names).toEqual(
    routes
      .filter(
        ([, { scope, secrets, asksModels, forPeople }]) =>
          scope === 'webhooks:write' || secrets || asksModels || forPeople,
      )
      .map(([operation]) => operation),
  );
  expect(names).toEqual(expect.arrayContaining(['registerWebhook', 'rotateWebhookSecret', 'selfImproveAgent']));
});

describe('the list of tools', () => {
  /** Returns the tools that a client with this query gets. */
  async function listed(query: string, scopes?: readonly Scope[]) {
    const { address } = await newOrganization(scopes);
    const { tools } = await (await connect({ ...address, query })).listTools();
    return tools;
  }

  it.each([
    ['?tools=board', 2_500],
    ['?tools=all', 7_500],
    ['', 7_500],
  ])('%j takes a model at most so many tokens: %i', async (query, tokens) => {
    const tools = await listed(query);
    expect(Buffer.byteLength(JSON.stringify({ tools })) / 4).toBeLessThanOrEqual(tokens);
    for (const { description = '' } of tools) expect(description.length).toBeLessThanOrEqual(200);
  });

  it.each([
    ['?tools=board', ['create_task', 'execute_agent', 'get_execution'], ['list_agents', 'list_webhooks', 'get_me']],
    ['?tools=agents', ['list_agents', 'execute_agent', 'list_steps'], ['create_task', 'list_webhooks']],
    ['?tools=webhooks', ['list_webhooks', 'list_events'], ['create_task', 'list_agents']],
    ['?tools=all', ['create_task', 'list_agents', 'list_webhooks', 'get_me'], []],
  ])('of %s has the tools %j and not %j', async (query, some, others) => {
    const names = (await listed(query)).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(some));
    for (const other of others) expect(names).not.toContain(other);
  });

  it('has only what the access token allows', async () => {
    const names = (await listed('?tools=board', ['tasks:read'])).map(({ name }) => name);
    const reads = offered
      .filter(([, { scope }]) => scope === 'tasks:read')
      .map(([operation]) => toolOf(operation).name);
    expect(names.toSorted()).toEqual(reads.toSorted());
  });

  it('has all tools that can be called', async () => {
    const { address } = await newOrganization();
    const client = await connect({ ...address, query: '?tools=webhooks' });
    await expect(client.callTool({ name: 'list_tasks', arguments: {} })).rejects.toThrow('There is no tool');
  });
});

describe.each(revisions)('a client of revision %s', (revision, negotiation) => {
  it('learns the revision, and what the server can do', async () => {
    const { address } = await newOrganization();
    const client = await connect(address, negotiation);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getServerVersion()).toMatchObject({ name: 'crewboard', title: 'Crewboard' });
    expect(client.getServerCapabilities()).toEqual({ tools: {}, resources: {}, prompts: {} });
    expect(client.getInstructions()).toContain('list_tasks');
  });

  it('lists a tool for each offered operation, with its words, its schema and its hints', async () => {
    const { address } = await newOrganization();
    const { tools } = await (await connect(address, negotiation)).listTools();
    expect(tools.map(({ name }) => name)).toEqual(offered.map(([operation]) => toolOf(operation).name));
    const listed = tools.find(({ name }) => name === 'delete_task');
    expect(listed).toEqual({
      name: 'delete_task',
      title: 'Delete a task',
      description: 'Permanently deletes the task.',
      inputSchema: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          ifMatch: { type: 'string', description: 'The `etag` that you read: if it is old, nothing changes.' },
        },
        required: ['id'],
      },
      annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    });
  });

  it('lists only the tools that the scopes of its token allow', async () => {
    const { address } = await newOrganization(['tasks:read']);
    const { tools } = await (await connect(address, negotiation)).listTools();
    const allowed = offered.filter(([, { scope }]) => scope === 'tasks:read' || scope === 'any');
    expect(allowed.length).toBeGreaterThan(0);
    expect(tools.map(({ name }) => name)).toEqual(allowed.map(([operation]) => toolOf(operation).name));
  });

  it('works on tasks as over the HTTP API', async () => {
    const { address, api } = await newOrganization();
    const client = await connect(address, negotiation);
    const first = await callTool<Created>(client, 'create_task', { title: 'Draw' });
    const second = await callTool<Created>(client, 'create_task', { title: 'Build', dependsOn: [first.data.id] });
    await callTool(client, 'update_task', { id: first.data.id, status: 'done' });

    const read = await callTool(client, 'get_task', { id: second.data.id });
    const overHttp = await api.getTask({ params: { id: second.data.id } });
    const etag = overHttp.headers.ETag?.replaceAll('"', '');
    expect(read).toEqual({ data: dataOf(overHttp), etag: expect.stringMatching(/^[\w-]{16}$/), isError: false });
    expect(read).toMatchObject({ etag });

    const listed = await callTool(client, 'list_tasks', { limit: 1, status: 'backlog' });
    const page = await api.listTasks({ query: 'limit=1&status=backlog' });
    expect(listed).toEqual({ data: dataOf(page), pagination: paginationOf(page), isError: false });

    expect(await callTool(client, 'delete_task', { id: second.data.id })).toEqual({ success: true, isError: false });
    expect((await api.getTask({ params: { id: second.data.id } })).status).toBe(404);
  });

  it('leaves out arguments that are null or empty, clears fields by clear, and learns what was left out', async () => {
    const { address, api } = await newOrganization();
    const client = await connect(address, negotiation);
    const input = { title: 'X', description: 'Long', projectId: '', dependsOn: '[]', assignedAgent: null };
    const { data, note } = await callTool<Created & { note?: string }>(client, 'create_task', input);
    expect(note).toBe('Left out, because null or empty: projectId, assignedAgent.');
    const kept = await callTool<{ note?: string }>(client, 'update_task', { id: data.id, description: null });
    expect(kept.note).toMatch(/: description\. To clear a field, name it in clear\.$/);
    expect(dataOf(await api.getTask({ params: { id: data.id } }))).toMatchObject({ description: 'Long' });
    expect(await callTool(client, 'update_task', { id: data.id, clear: ['description'] })).not.toHaveProperty('note');
    expect(dataOf(await api.getTask({ params: { id: data.id } }))).not.toHaveProperty('description');
    expect((await api.createTask({ body: input })).status).toBe(400);
  });

  it('changes a task by its etag only if nobody else has changed it', async () => {
    const { address, api } = await newOrganization();
    const client = await connect(address, negotiation);
    const { id } = (await callTool<Created>(client, 'create_task', { title: 'Draw' })).data;
    const update = (args: object) => callTool<Changed>(client, 'update_task', { id, ...args });
    const { etag } = await callTool<Changed>(client, 'get_task', { id });
    const { etag: next } = await update({ priority: 'high', ifMatch: etag });
    expect(next).not.toBe(etag);
    const lost = await callTool<Failed>(client, 'update_task', { id, priority: 'low', ifMatch: etag });
    expect(lost).toMatchObject({ isError: true, error: { code: 'precondition_failed' } });
    expect(lost.error.message).toContain(next);
    const failed = await callTool<Failed>(client, 'delete_task', { id, ifMatch: etag });
    expect(failed.error.code).toBe('precondition_failed');
    expect(dataOf(await api.getTask({ params: { id } }))).toMatchObject({ priority: 'high' });

    // The header has quotation marks, and `*` stands for any version.
    expect((await update({ priority: 'medium', ifMatch: `"${next}"` })).isError).toBe(false);
    expect((await update({ priority: 'low', ifMatch: '*' })).isError).toBe(false);
    for (const ifMatch of [null, '']) {
      const { note } = await update({ title: `Draw ${ifMatch}`, ifMatch, projectId: '' });
      expect(note).toMatch(/^ifMatch was null or empty: no version was compared\. Left out, .*: projectId\./);
    }
  });

  it('has an etag of each versioned resource, and ifMatch for each tool that changes one', async () => {
    const { address } = await newOrganization();
    const client = await connect(address, negotiation);
    const { tools } = await client.listTools();
    const takeIt = tools.filter(({ inputSchema }) => Object.hasOwn(inputSchema.properties ?? {}, 'ifMatch'));
    const versioned = offered.filter(
      ([, { versioned, method }]: readonly [string, Endpoint]) => versioned && method !== 'GET',
    );
    expect(takeIt.map(({ name }) => name)).toEqual(versioned.map(([operation]) => toolOf(operation).name));
    const agent = { name: 'builder', displayName: 'Builder', category: 'development' };
    await callTool(client, 'create_agent', agent);
    const { etag } = await callTool<Changed>(client, 'get_agent', { name: 'builder' });
    const changed = await callTool<Changed>(client, 'update_soul', { name: 'builder', soul: 'Calm.', ifMatch: etag });
    expect(changed).toMatchObject({ isError: false, etag: expect.stringMatching(/^[\w-]{16}$/) });
    const lost = await callTool<Failed>(client, 'update_agent', { name: 'builder', status: 'inactive', ifMatch: etag });
    expect(lost).toMatchObject({ isError: true, error: { code: 'precondition_failed' } });
  });

  it('gets an error for an ifMatch that is no text, or of a tool without one, and nothing is changed', async () => {
    const { address, api } = await newOrganization();
    const client = await connect(address, negotiation);
    const { id } = (await callTool<Created>(client, 'create_task', { title: 'Draw' })).data;
    for (const [name, args, code] of [
      ['update_task', { id, title: 'X', ifMatch: 1 }, 'invalid_type'],
      ['comment_on_task', { id, text: 'X', ifMatch: 'x' }, 'unknown_field'],
      ['get_task', { id, ifMatch: 'x' }, 'unknown_field'],
    ] as const) {
      const { error } = await callTool<Failed>(client, name, args);
      expect(error).toMatchObject({ code: 'validation_failed', details: [{ path: 'ifMatch', code }] });
    }
    expect(dataOf(await api.getTask({ params: { id } }))).toMatchObject({ title: 'Draw' });
    expect(paginationOf(await api.listComments({ params: { id } })).total).toBe(0);
  });

  it('gets the errors of the API as results, with code, message, details and request id', async () => {
    const { address, api } = await newOrganization();
    const client = await connect(address, negotiation);
    const { data } = await callTool<Created>(client, 'create_task', { title: 'Draw' });
    await callTool(client, 'create_task', { title: 'Build', dependsOn: [data.id] });
    const failed = [
      await callTool<Failed>(client, 'create_task', { titel: 'Draw' }),
      await callTool<Failed>(client, 'get_task', { id: unknownTask }),
      await callTool<Failed>(client, 'delete_task', { id: data.id }),
    ];
    const overHttp = [
      await api.createTask({ body: { titel: 'Draw' } }),
      await api.getTask({ params: { id: unknownTask } }),
      await api.deleteTask({ params: { id: data.id } }),
    ];
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(failed.map(({ error }) => error)).toEqual(overHttp.map((answer) => ({ ...errorOf(answer), requestId: id })));
    expect(failed.map(({ isError }) => isError)).toEqual([true, true, true]);
    expect(paginationOf(await api.listTasks()).total).toBe(2);
  });

  it('gets an error that names the missing or malformed id, and nothing is changed', async () => {
    const { address } = await newOrganization();
    const client = await connect(address, negotiation);
    const missing = await callTool<Failed>(client, 'update_task', { status: 'done' });
    expect(missing).toMatchObject({ isError: true, error: { code: 'validation_failed', message: 'id is required.' } });
    const malformed = await callTool<Failed>(client, 'update_task', { id: '../agents', status: 'done' });
    expect(malformed.error.details).toMatchObject([{ path: 'id', code: 'invalid_value' }]);
  });

  it('gets the path of a number that JSON does not keep, and nothing is changed', async () => {
    const { address, api } = await newOrganization();
    const client = await connect(address, negotiation);
    const input = { name: 'qa-reviewer', input: 'Go.', context: { a: [2 ** 53] } };
    const { error } = await callTool<Failed>(client, 'execute_agent', input);
    expect(error).toMatchObject({
      code: 'validation_failed',
      details: [{ path: 'context.a.0', code: 'invalid_value' }],
    });
    expect(paginationOf(await api.listExecutions()).total).toBe(0);
    const kept = await callTool<Failed>(client, 'execute_agent', { ...input, context: { a: [2 ** 53 - 1, 0.5] } });
    expect(kept).toMatchObject({ isError: false });
  });

  it('gets an error for a tool that its token does not allow, and nothing is changed', async () => {
    const { address, api } = await newOrganization(['tasks:read']);
    const client = await connect(address, negotiation);
    const { error, isError } = await callTool<Failed>(client, 'create_task', { title: 'Draw' });
    expect({ isError, code: error.code }).toEqual({ isError: true, code: 'insufficient_scope' });
    expect(error.message).toContain('tasks:write');
    expect(paginationOf(await api.listTasks()).total).toBe(0);
  });

  it.each(['testWebhook', 'register_webhook', 'self_improve_agent', '__proto__', 'x'.repeat(1000)])(
    'gets an error of the protocol for the tool %j, which is not offered',
    async (name) => {
      const { address } = await newOrganization();
      const client = await connect(address, negotiation);
      await expect(callTool(client, name)).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining('tools/list has all tools.'),
      });
    },
  );

  it('reads tasks and agents as resources', async () => {
    const { address, api } = await newOrganization();
    const { id } = dataOf(await api.createTask({ body: { title: 'Draw' } }));
    const client = await connect(address, negotiation);
    const { resources } = await client.listResources();
    expect(resources[0]).toMatchObject({ uri: `crewboard://tasks/${id}`, name: id, title: 'Draw' });
    expect(resources.map(({ uri }) => uri)).toContain('crewboard://agents/qa-reviewer');
    for (const [uri, answer] of [
      [`crewboard://tasks/${id}`, await api.getTask({ params: { id } })],
      ['crewboard://agents/qa-reviewer', await api.getAgent({ params: { name: 'qa-reviewer' } })],
    ] as const) {
      const { contents } = await client.readResource({ uri });
      expect(contents).toEqual([{ uri, mimeType: 'application/json', text: JSON.stringify(dataOf(answer)) }]);
    }
  });

  it('gets an error of the protocol for a resource that does not exist', async () => {
    const { address } = await newOrganization();
    const client = await connect(address, negotiation);
    const uris = [`crewboard://tasks/${unknownTask}`, 'crewboard://tasks/first', 'crewboard://agents/', 'file:///etc'];
    for (const uri of uris)
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602, data: { uri } });
  });

  it('finds only the resources that the scopes of its token allow', async () => {
    const { address } = await newOrganization(['agents:read']);
    const client = await connect(address, negotiation);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['crewboard://agents/{name}']);
    const { resources } = await client.listResources();
    expect(resources.map(({ name }) => name).sort()).toEqual(['prompt-improver', 'qa-reviewer']);
    await expect(client.readResource({ uri: `crewboard://tasks/${unknownTask}` })).rejects.toMatchObject({
      message: expect.stringContaining('insufficient_scope'),
    });
  });

  it('gets the prompt to work on the next task, of one agent too', async () => {
    const { address } = await newOrganization();
    const client = await connect(address, negotiation);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['work_on_next_task']);
    const textFor = async (args: Record<string, string>) =>
      JSON.stringify((await client.getPrompt({ name: 'work_on_next_task', arguments: args })).messages);
    expect(await textFor({})).not.toContain('assignedAgent');
    expect(await textFor({ agent: 'builder' })).toContain('assignedAgent');
    await expect(client.getPrompt({ name: 'other' })).rejects.toMatchObject({ code: -32602 });
  });

  it('names only tools that exist in the prompt', async () => {
    const { address } = await newOrganization();
    const client = await connect(address, negotiation);
    const { messages } = await client.getPrompt({ name: 'work_on_next_task', arguments: { agent: 'builder' } });
    const named = new Set(JSON.stringify(messages).match(/\b[a-z]+_([a-z]+_)?(task|claim)s?\b/g));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining([...named]));
    expect(named.size).toBe(6);
  });
});
