import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import { errorOf } from '../../api.ts';
import { newCaller } from '../../service.ts';
import { type AgentsApi, agentOf, createTestAgents, newAgent, sendConcurrently } from './test-agents.ts';

vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });
afterAll(() => vi.useRealTimers());

const { newAgentsApi } = await createTestAgents();
let api: AgentsApi;
beforeEach(async () => {
  api = await newAgentsApi();
});

const keysInOrder = [
  'id',
  'name',
  'displayName',
  'description',
  'category',
  'model',
  'systemPrompt',
  'soul',
  'capabilities',
  'status',
  'isSystem',
  'createdAt',
  'updatedAt',
];

describe('a read', () => {
  it('returns the whole agent, in the order of the contract, with the ETag of its version', async () => {
    await api.put({ description: 'Writes', systemPrompt: 'Write.', soul: 'Kind.' });
    const answer = await api.get('writer');
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['success', 'data']);
    expect(Object.keys(agentOf(answer))).toEqual(keysInOrder);
    expect(agentOf(answer)).toMatchObject({ systemPrompt: 'Write.', soul: 'Kind.', isSystem: false });
    expect(answer.headers.ETag).toBe('"1"');
  });

  it('omits an unset description', async () => {
    await api.put();
    const keys = Object.keys(agentOf(await api.get('writer')));
    expect(keys).toEqual(keysInOrder.filter((key) => key !== 'description'));
  });

  it.each([
    ['qa-reviewer', 'qa'],
    ['prompt-improver', 'operations'],
  ])('returns the system agent %s with isSystem', async (name, category) => {
    const now = new Date().toISOString();
    const answer = await api.get(name);
    expect(Object.keys(agentOf(answer))).toEqual(keysInOrder);
    const facts = { name, category, isSystem: true, status: 'active', soul: '', createdAt: now, updatedAt: now };
    expect(agentOf(answer)).toMatchObject(facts);
    expect(agentOf(answer).systemPrompt).toMatch(/^You /);
  });

  it('returns the agent of the organization of the caller, though another has the same name', async () => {
    const other = await newAgentsApi();
    await other.put({ displayName: 'Theirs', soul: 'Theirs.' });
    await api.put({ displayName: 'Ours', soul: 'Ours.' });
    expect(agentOf(await api.get('writer'))).toMatchObject({ displayName: 'Ours', soul: 'Ours.' });
    expect(agentOf(await other.get('writer'))).toMatchObject({ displayName: 'Theirs', soul: 'Theirs.' });
  });

  it('returns a prompt and a soul of the same version during concurrent changes of both', async () => {
    const pair = (nth: number) => ({ systemPrompt: `Prompt ${nth}`, soul: `Soul ${nth}` });
    await api.put(pair(0));
    const answers = await sendConcurrently(30, (nth) =>
      nth % 6 === 0 ? api.update('writer', pair(nth)) : api.get('writer'),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
    const shown = answers.map(agentOf).map(({ systemPrompt, soul }) => [systemPrompt, soul].join());
    const numbers = Array.from({ length: 30 }, (_, nth) => Object.values(pair(nth)).join());
    expect(shown.filter((text) => !numbers.includes(text))).toEqual([]);
    expect(new Set(shown).size).toBeGreaterThan(1);
  });
});

describe('a read is rejected', () => {
  it('with 404 not_found for absent agents and invalid names', async () => {
    const absent = ['absent-agent', 'constructor', 'executions', 'soul'];
    const impossible = ['Writer', 'qa_reviewer', 'a#b', '', '..', '%71a-reviewer', 'qa-reviewer\n', 'x'.repeat(65)];
    for (const name of [...absent, ...impossible]) {
      const answer = await api.get(name);
      expect([name, answer.status, errorOf(answer).code]).toEqual([name, 404, 'not_found']);
    }
  });

  it("with 404 not_found for another organization's agent", async () => {
    const other = await newAgentsApi();
    await other.create(newAgent);
    await api.refuses(() => api.get('writer'), 404, 'not_found');
  });

  it('with 401, 403 and 400 before the agent is read', async () => {
    const { token } = await newCaller(processContext(), ['agents:write', 'agents:execute', 'tasks:read']);
    await api.refuses(() => api.get('absent-agent', { token: undefined }), 401, 'unauthorized');
    await api.refuses(() => api.get('absent-agent', { token }), 403, 'insufficient_scope');
    await api.refuses(() => api.get('absent-agent', { query: 'fields=soul' }), 400, 'validation_failed');
  });
});
