import { describe, expect, it, vi } from 'vitest';
import { createSystemAgents } from '../../../lib/agents/agents.ts';
import { processContext } from '../../../lib/context/context.ts';
import { versionOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { agentOf, createTestAgents, defaultModel } from './test-agents.ts';

vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });

const { newAgentsApi } = await createTestAgents();
const api = newForEachTest(newAgentsApi);

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

describe('a patch', () => {
  it('returns what a read returns afterwards, with a new updatedAt and ETag', async () => {
    await api.put();
    const before = agentOf(await api.get('writer'));
    wait();
    const patch = { displayName: 'New', category: 'qa', ...full };
    const changed = await api.update('writer', patch);
    const read = await api.get('writer');
    expect(changed.status).toBe(200);
    expect(agentOf(changed)).toEqual({ ...before, ...patch, updatedAt: new Date().toISOString() });
    expect(JSON.stringify(changed.body)).toBe(JSON.stringify(read.body));
    expect([changed, read].map(versionOf)).toEqual([2, 2]);
  });

  it('with null clears the description, empties the prompt and the soul, and writes the default model', async () => {
    await api.put(full);
    await api.update('writer', { description: null, systemPrompt: null, soul: null, model: null });
    const { description, ...rest } = full;
    const agent = agentOf(await api.get('writer'));
    expect(agent).toMatchObject({ ...rest, systemPrompt: '', soul: '', model: defaultModel });
    expect(agent).not.toHaveProperty('description');
  });

  it('back to an earlier text returns that text', async () => {
    await api.put(full);
    for (const systemPrompt of ['Second.', '', full.systemPrompt])
      expect(agentOf(await api.update('writer', { systemPrompt }))).toMatchObject({ systemPrompt });
    expect(agentOf(await api.get('writer'))).toMatchObject(full);
  });

  it('without a body, or of the values that the agent has, writes nothing and keeps ETag and updatedAt', async () => {
    await api.put(full);
    const [before, read] = [await api.dump(), await api.get('writer')];
    wait();
    for (const patch of [undefined, {}, { displayName: 'Writer', category: 'business', ...full }]) {
      const answer = await api.update('writer', patch);
      expect([answer.status, answer.body, answer.headers.ETag]).toEqual([200, read.body, read.headers.ETag]);
      expect(await api.dump()).toEqual(before);
    }
  });

  it('with the ETag of an earlier version, also one before a skill, is rejected with 412', async () => {
    const name = await api.put();
    const { ETag = '' } = (await api.get(name)).headers;
    await api.give(name, 'sk_code-review');
    const earlier = { headers: { 'If-Match': ETag } };
    await api.refuses(() => api.update(name, { soul: 'x' }, earlier), 412, 'precondition_failed');
    await api.refuses(() => api.setSoul(name, { soul: 'x' }, earlier), 412, 'precondition_failed');
  });

  it('can change the same fields of a system agent, which stays a system agent', async () => {
    const answer = await api.update('qa-reviewer', { displayName: 'Mine', ...full });
    expect(agentOf(answer)).toMatchObject({ displayName: 'Mine', ...full, name: 'qa-reviewer', isSystem: true });
    await createSystemAgents(processContext(), api.organization);
    expect(agentOf(await api.get('qa-reviewer'))).toEqual(agentOf(answer));
  });
});
