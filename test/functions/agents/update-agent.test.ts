import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSystemAgents } from '../../../lib/agents/agents.ts';
import { processContext } from '../../../lib/context.ts';
import { newCaller } from '../../service.ts';
import { type AgentsApi, agentOf, createTestAgents, defaultModel } from './test-agents.ts';

vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });
afterAll(() => vi.useRealTimers());

const { newAgentsApi } = await createTestAgents();
let api: AgentsApi;
beforeEach(async () => {
  api = await newAgentsApi();
});

/** Advances the clock by a minute. */
const wait = () => vi.setSystemTime(Date.now() + 60_000);

/** The optional fields of an agent, and its status. */
const full = {
  description: 'Writes',
  model: 'some.model',
  systemPrompt: 'Write.',
  soul: 'Kind.',
  capabilities: ['text', 'tables'],
  status: 'draft',
};

const refused = async (patch: unknown) => {
  await api.put();
  return (await api.refuses(() => api.update('writer', patch), 400, 'validation_failed')).details;
};

describe('a patch', () => {
  it('returns what a read returns afterwards', async () => {
    await api.put();
    const changed = await api.update('writer', { displayName: 'New', category: 'qa', ...full });
    const read = await api.get('writer');
    expect(changed.status).toBe(200);
    expect(agentOf(changed)).toMatchObject({ displayName: 'New', category: 'qa', ...full });
    expect(JSON.stringify(changed.body)).toBe(JSON.stringify(read.body));
    expect(changed.headers.ETag).toBe(read.headers.ETag);
  });

  it.each([
    ['displayName', 'Other'],
    ['description', 'Other'],
    ['description', ''],
    ['category', 'research'],
    ['model', 'other.model'],
    ['systemPrompt', 'Other.'],
    ['systemPrompt', ''],
    ['systemPrompt', full.soul],
    ['soul', 'Other.'],
    ['soul', ''],
    ['soul', full.systemPrompt],
    ['capabilities', []],
    ['capabilities', ['tables', 'text']],
    ['status', 'inactive'],
  ])('of %s to %j changes only that field, updatedAt and the ETag', async (field, value) => {
    await api.put(full);
    const before = agentOf(await api.get('writer'));
    wait();
    const answer = await api.update('writer', { [field]: value });
    expect(agentOf(answer)).toEqual({ ...before, [field]: value, updatedAt: new Date().toISOString() });
    expect(answer.headers.ETag).toBe('"2"');
    expect(agentOf(await api.get('writer'))).toEqual(agentOf(answer));
  });

  it('with null clears the description', async () => {
    await api.put(full);
    const answer = await api.update('writer', { description: null });
    expect(answer.status).toBe(200);
    expect(agentOf(answer)).not.toHaveProperty('description');
    expect(agentOf(await api.get('writer'))).not.toHaveProperty('description');
  });

  it('with null empties the prompt and the soul and writes the default model', async () => {
    await api.put(full);
    await api.update('writer', { systemPrompt: null, soul: null, model: null });
    const empty = { systemPrompt: '', soul: '', model: defaultModel, description: 'Writes' };
    expect(agentOf(await api.get('writer'))).toMatchObject(empty);
  });

  it('back to an earlier text returns that text', async () => {
    await api.put(full);
    for (const systemPrompt of ['Second.', '', full.systemPrompt])
      expect(agentOf(await api.update('writer', { systemPrompt }))).toMatchObject({ systemPrompt });
    expect(agentOf(await api.get('writer'))).toMatchObject(full);
  });

  it.each([
    ['an empty object', {}],
    ['no body at all', undefined],
    ['the values that the agent has', { displayName: 'Writer', category: 'business', ...full }],
    ['one value that the agent has', { soul: full.soul }],
  ])('of %s writes nothing and keeps ETag and updatedAt', async (_, patch) => {
    await api.put(full);
    const [before, read] = [await api.dump(), await api.get('writer')];
    wait();
    const answer = await api.update('writer', patch);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(read.body);
    expect(answer.headers.ETag).toBe(read.headers.ETag);
    expect(await api.dump()).toEqual(before);
  });

  it('of null writes nothing if the fields are already cleared', async () => {
    await api.put();
    const before = await api.dump();
    const answer = await api.update('writer', { description: null, model: null, systemPrompt: null, soul: null });
    expect([answer.status, answer.headers.ETag]).toEqual([200, '"1"']);
    expect(await api.dump()).toEqual(before);
  });

  it('can change any status to any other, also of a system agent', async () => {
    for (const status of ['inactive', 'draft', 'active', 'draft', 'inactive', 'active'])
      expect(agentOf(await api.update('qa-reviewer', { status })).status).toBe(status);
  });

  it('can change the same fields of a system agent, which stays a system agent', async () => {
    const answer = await api.update('qa-reviewer', { displayName: 'Mine', ...full });
    expect(agentOf(answer)).toMatchObject({ displayName: 'Mine', ...full, name: 'qa-reviewer', isSystem: true });
    await newCaller(processContext());
    await createSystemAgents(processContext(), api.organization);
    expect(agentOf(await api.get('qa-reviewer'))).toEqual(agentOf(answer));
  });

  it("does not change another organization's agent with that name", async () => {
    const other = await newAgentsApi();
    await Promise.all([api.put(), other.put()]);
    const before = await other.dump();
    await api.update('writer', full);
    expect(await other.dump()).toEqual(before);
  });
});

describe('a patch is rejected with 400 validation_failed', () => {
  it('for null in a field that cannot be cleared', async () => {
    const asked = { displayName: null, category: null, capabilities: null, status: null };
    expect(await refused(asked)).toMatchObject(Object.keys(asked).map((path) => ({ path })));
  });

  it('for a read-only field, even with its current value', async () => {
    const asked = { id: 'x', name: 'writer', isSystem: false, createdAt: 'x', updatedAt: 'x' };
    const details = await refused(asked);
    expect(details).toMatchObject(Object.keys(asked).map((path) => ({ path, code: 'read_only' })));
  });

  it('for unknown fields', async () => {
    const asked = { version: 1, promptHash: 'x', skills: [] };
    expect(await refused(asked)).toMatchObject(Object.keys(asked).map((path) => ({ path, code: 'unknown_field' })));
  });

  it('with all errors in one response', async () => {
    const details = await refused({ displayName: ' ', soul: 'x'.repeat(50_001), model: 'good', status: 'x', tags: [] });
    expect(details?.map(({ path }) => path).sort()).toEqual(['displayName', 'soul', 'status', 'tags']);
  });
});

describe('the checks of a patch', () => {
  it('come in the order token, scope, size, media type, JSON, name, fields, agent, If-Match', async () => {
    const { token } = await newCaller(processContext(), ['agents:read', 'agents:execute', 'tasks:write']);
    const tooLarge = 'x'.repeat(257 * 1024);
    const headers = { 'Content-Type': 'text/plain' };
    const bad = { status: 'x' };
    const otherVersion = { headers: { 'If-Match': '"7"' } };
    const update =
      (name: string, ...rest: [unknown, object?]) =>
      () =>
        api.update(name, ...rest);
    await api.refuses(update('No Name', tooLarge, { token: '' }), 401, 'unauthorized');
    await api.refuses(update('No Name', tooLarge, { token }), 403, 'insufficient_scope');
    await api.refuses(update('No Name', tooLarge, { headers }), 413, 'payload_too_large');
    await api.refuses(update('No Name', '{', { headers }), 415, 'unsupported_media_type');
    await api.refuses(update('No Name', '{'), 400, 'invalid_json');
    await api.refuses(update('No Name', bad), 404, 'not_found');
    await api.refuses(update('absent-agent', bad), 400, 'validation_failed');
    await api.refuses(update('absent-agent', {}, otherVersion), 404, 'not_found');
    await api.refuses(update('qa-reviewer', bad, otherVersion), 400, 'validation_failed');
    await api.refuses(update('qa-reviewer', {}, otherVersion), 412, 'precondition_failed');
  });

  it("do not find another organization's agent", async () => {
    const other = await newAgentsApi();
    await other.put();
    const before = await other.dump();
    await api.refuses(() => api.update('writer', full), 404, 'not_found');
    expect(await other.dump()).toEqual(before);
  });
});
