import { beforeEach, describe, expect, it } from 'vitest';
import { errorOf } from '../../api.ts';
import { type AgentsApi, agentOf, createTestAgents, defaultModel, newAgent, sendConcurrently } from './test-agents.ts';

const { newAgentsApi } = await createTestAgents();
let api: AgentsApi;
beforeEach(async () => {
  api = await newAgentsApi();
});

const invalid = async (body: unknown) => (await api.refuses(() => api.create(body), 400, 'validation_failed')).details;

describe('a create', () => {
  it('returns 201 with exactly id, name, displayName and createdAt', async () => {
    const answer = await api.create({
      ...newAgent,
      description: 'Writes',
      model: 'm',
      systemPrompt: 'Write.',
      soul: 'Kind.',
      capabilities: ['text'],
      status: 'draft',
    });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body)).toEqual(['success', 'data']);
    expect(Object.keys(agentOf(answer))).toEqual(['id', 'name', 'displayName', 'createdAt']);
    expect(agentOf(answer)).toEqual({
      id: expect.stringMatching(/^ag_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      name: 'writer',
      displayName: 'Writer',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(answer.headers).not.toHaveProperty('ETag');
  });

  it('with only the required fields is active, has the default model, and is empty otherwise', async () => {
    const { id, createdAt } = agentOf(await api.create());
    expect(agentOf(await api.get('writer'))).toEqual({
      id,
      ...newAgent,
      model: defaultModel,
      systemPrompt: '',
      soul: '',
      capabilities: [],
      status: 'active',
      isSystem: false,
      createdAt,
      updatedAt: createdAt,
    });
  });

  it('stores every field as it was sent', async () => {
    const sent = {
      name: 'constructor',
      displayName: ' Two  spaces, \u0000 and 👩‍🚀 ',
      description: '',
      category: 'specialized',
      model: ' global.any/model:1 ',
      systemPrompt: ' \n\u0000\u2028 ',
      soul: ' ',
      capabilities: ['__proto__', 'a b', 'A B', '\u0000'],
      status: 'inactive',
    };
    expect((await api.create(sent)).status).toBe(201);
    expect(agentOf(await api.get('constructor'))).toMatchObject(sent);
  });

  it('can have the same text as prompt and soul', async () => {
    await api.put({ systemPrompt: 'Both.', soul: 'Both.' });
    expect(agentOf(await api.get('writer'))).toMatchObject({ systemPrompt: 'Both.', soul: 'Both.' });
  });

  it('stores the longest texts, of four-byte characters', async () => {
    const longest = {
      displayName: '😀'.repeat(200),
      description: '😀'.repeat(10_000),
      model: '😀'.repeat(256),
      systemPrompt: '😀'.repeat(50_000),
      capabilities: Array.from({ length: 50 }, (_, at) => '😀'.repeat(63) + String.fromCodePoint(0x1f600 + at)),
    };
    const name = await api.put({ name: 'x'.repeat(64), ...longest, capabilities: [] });
    const { systemPrompt, capabilities } = longest;
    expect((await api.update(name, { systemPrompt: '', soul: systemPrompt })).status).toBe(200);
    expect((await api.update(name, { systemPrompt, capabilities: [] })).status).toBe(200);
    expect((await api.update(name, { capabilities })).status).toBe(200);
    expect(agentOf(await api.get(name))).toMatchObject({ name, ...longest, soul: systemPrompt });
  });
});

describe('a create is rejected with 400 validation_failed, and nothing is written,', () => {
  it('for fields that only the service sets', async () => {
    const asked = { id: 'x', isSystem: true, createdAt: 'x', updatedAt: 'x' };
    const details = await invalid({ ...newAgent, ...asked });
    expect(details).toMatchObject(Object.keys(asked).map((path) => ({ path, code: 'read_only' })));
  });

  it('for unknown fields', async () => {
    const asked = { version: 7, promptHash: 'x', soulHash: 'x', constructor: 'x' };
    const details = await invalid({ ...newAgent, ...asked });
    expect(details).toMatchObject(Object.keys(asked).map((path) => ({ path, code: 'unknown_field' })));
  });

  it('with all errors in one response', async () => {
    const details = await invalid({ name: 'A', category: 'x', soul: null, skills: [] });
    expect(details?.map(({ path }) => path).sort()).toEqual(['category', 'displayName', 'name', 'skills', 'soul']);
  });
});

describe('a name', () => {
  it.each(['executions', 'skills'])('%s is rejected with 422 reserved_name', async (name) => {
    const error = await api.refuses(() => api.create({ ...newAgent, name }), 422, 'reserved_name');
    expect(error.details).toMatchObject([{ path: 'name' }]);
  });

  it.each(['writer', 'qa-reviewer'])('%s of an existing agent is rejected with 409 name_taken', async (name) => {
    await api.put();
    const body = { ...newAgent, name, systemPrompt: 'Another.', soul: 'Another.' };
    const error = await api.refuses(() => api.create(body), 409, 'name_taken');
    expect(error.details).toMatchObject([{ path: 'name' }]);
  });

  it("of another organization's agent is available", async () => {
    const other = await newAgentsApi();
    await other.put({ displayName: 'Theirs' });
    await api.put({ displayName: 'Ours' });
    expect(agentOf(await other.get('writer')).displayName).toBe('Theirs');
    expect(agentOf(await api.get('writer')).displayName).toBe('Ours');
  });

  it('is given to one of ten concurrent creates', async () => {
    const answers = await sendConcurrently(10, (nth) => api.create({ ...newAgent, systemPrompt: `Prompt ${nth}` }));
    const winners = answers.filter(({ status }) => status === 201).map(agentOf);
    const losers = answers.filter(({ status }) => status === 409);
    expect([winners.length, losers.length]).toEqual([1, 9]);
    expect(new Set(losers.map((answer) => errorOf(answer).code))).toEqual(new Set(['name_taken']));
    expect(agentOf(await api.get('writer'))).toMatchObject(winners[0] ?? {});
    const texts = Object.values(await api.dump()).filter((item) => 'text' in (item as object));
    const systemTexts = 2;
    expect(texts).toHaveLength(systemTexts + 1);
  });
});

describe('the order of checks', () => {
  it('is token, scope, size, media type, JSON, fields, key, reserved name', async () => {
    const reader = await newAgentsApi(['agents:read', 'agents:execute', 'tasks:write', 'webhooks:write']);
    const tooLarge = 'x'.repeat(257 * 1024);
    const text = { 'Content-Type': 'text/plain' };
    const reserved = { ...newAgent, name: 'skills' };
    await reader.refuses(() => reader.create(tooLarge, { token: undefined }), 401, 'unauthorized');
    await reader.refuses(() => reader.create(tooLarge), 403, 'insufficient_scope');
    await api.refuses(() => api.create(tooLarge, { headers: text }), 413, 'payload_too_large');
    await api.refuses(() => api.create('{', { headers: text }), 415, 'unsupported_media_type');
    await api.refuses(() => api.create('{'), 400, 'invalid_json');
    const headers = { 'Idempotency-Key': 'key' };
    await api.create(newAgent, { headers });
    await api.refuses(() => api.create({ name: 'skills' }, { headers }), 400, 'validation_failed');
    await api.refuses(() => api.create(reserved, { headers }), 422, 'idempotency_key_reused');
    await api.refuses(() => api.create(reserved), 422, 'reserved_name');
  });
});
