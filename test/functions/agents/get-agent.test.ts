import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import { errorOf } from '../../api.ts';
import { newCaller } from '../../service.ts';
import { agentOf, atOnce, newAgent, openRegistries, type Registry } from './registry.ts';

vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });
afterAll(() => vi.useRealTimers());

const { newRegistry } = await openRegistries();
let registry: Registry;
beforeEach(async () => {
  registry = await newRegistry();
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
  it('answers the whole agent, in the order of the contract, with the ETag of its version', async () => {
    await registry.put({ description: 'Writes', systemPrompt: 'Write.', soul: 'Kind.' });
    const answer = await registry.get('writer');
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['success', 'data']);
    expect(Object.keys(agentOf(answer))).toEqual(keysInOrder);
    expect(agentOf(answer)).toMatchObject({ systemPrompt: 'Write.', soul: 'Kind.', isSystem: false });
    expect(answer.headers.ETag).toBe('"1"');
  });

  it('has no description where none is set', async () => {
    await registry.put();
    const keys = Object.keys(agentOf(await registry.get('writer')));
    expect(keys).toEqual(keysInOrder.filter((key) => key !== 'description'));
  });

  it.each([
    ['qa-reviewer', 'qa'],
    ['prompt-improver', 'operations'],
  ])('of the system agent %s says that it is one', async (name, category) => {
    const now = new Date().toISOString();
    const answer = await registry.get(name);
    expect(Object.keys(agentOf(answer))).toEqual(keysInOrder);
    const facts = { name, category, isSystem: true, status: 'active', soul: '', createdAt: now, updatedAt: now };
    expect(agentOf(answer)).toMatchObject(facts);
    expect(agentOf(answer).systemPrompt).toMatch(/^You /);
  });

  it('is of that agent, whatever names the organization and others have', async () => {
    const other = await newRegistry();
    await other.put({ displayName: 'Theirs', soul: 'Theirs.' });
    await registry.put({ displayName: 'Ours', soul: 'Ours.' });
    expect(agentOf(await registry.get('writer'))).toMatchObject({ displayName: 'Ours', soul: 'Ours.' });
    expect(agentOf(await other.get('writer'))).toMatchObject({ displayName: 'Theirs', soul: 'Theirs.' });
  });

  it('shows a prompt and a soul that belong together while others change both', async () => {
    const pair = (nth: number) => ({ systemPrompt: `Prompt ${nth}`, soul: `Soul ${nth}` });
    await registry.put(pair(0));
    const answers = await atOnce(30, (nth) =>
      nth % 6 === 0 ? registry.update('writer', pair(nth)) : registry.get('writer'),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
    const shown = answers.map(agentOf).map(({ systemPrompt, soul }) => [systemPrompt, soul].join());
    const numbers = Array.from({ length: 30 }, (_, nth) => Object.values(pair(nth)).join());
    expect(shown.filter((text) => !numbers.includes(text))).toEqual([]);
    expect(new Set(shown).size).toBeGreaterThan(1);
  });
});

describe('a read is refused', () => {
  it('with 404 not_found for who is not there, and for what no agent can be named', async () => {
    const absent = ['nobody', 'constructor', 'executions', 'soul'];
    const impossible = ['Writer', 'qa_reviewer', 'a#b', '', '..', '%71a-reviewer', 'qa-reviewer\n', 'x'.repeat(65)];
    for (const name of [...absent, ...impossible]) {
      const answer = await registry.get(name);
      expect([name, answer.status, errorOf(answer).code]).toEqual([name, 404, 'not_found']);
    }
  });

  it("with 404 not_found for another organization's agent", async () => {
    const other = await newRegistry();
    await other.create(newAgent);
    await registry.refuses(() => registry.get('writer'), 404, 'not_found');
  });

  it('with 401, 403 and 400 before anybody looks for the agent', async () => {
    const { token } = await newCaller(processContext(), ['agents:write', 'agents:execute', 'tasks:read']);
    await registry.refuses(() => registry.get('nobody', { token: undefined }), 401, 'unauthorized');
    await registry.refuses(() => registry.get('nobody', { token }), 403, 'insufficient_scope');
    await registry.refuses(() => registry.get('nobody', { query: 'fields=soul' }), 400, 'validation_failed');
  });
});
