import { beforeEach, describe, expect, it } from 'vitest';
import { type AgentsApi, agentOf, createTestAgents, sendConcurrently } from './test-agents.ts';

const { newAgentsApi } = await createTestAgents();
let api: AgentsApi;
beforeEach(async () => {
  api = await newAgentsApi();
  await api.put({ systemPrompt: 'Write.', soul: 'Kind.' });
});

describe('an update of the soul', () => {
  it('returns what a read returns afterwards, and changes no other field', async () => {
    const before = agentOf(await api.get('writer'));
    const answer = await api.setSoul('writer', { soul: ' \u0000 ' });
    const read = await api.get('writer');
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body)).toBe(JSON.stringify(read.body));
    const { updatedAt } = agentOf(read);
    expect(agentOf(read)).toEqual({ ...before, soul: ' \u0000 ', updatedAt });
    expect([answer.headers.ETag, read.headers.ETag]).toEqual(['"2"', '"2"']);
  });

  it.each(['', 'Write.'])('accepts %j', async (soul) => {
    await api.setSoul('writer', { soul });
    expect(agentOf(await api.get('writer'))).toMatchObject({ soul, systemPrompt: 'Write.' });
  });

  it('to the same text writes nothing', async () => {
    const [before, read] = [await api.dump(), await api.get('writer')];
    const answer = await api.setSoul('writer', { soul: 'Kind.' });
    expect([answer.status, answer.body, answer.headers.ETag]).toEqual([200, read.body, '"1"']);
    expect(await api.dump()).toEqual(before);
  });

  it('can change a system agent', async () => {
    expect(agentOf(await api.setSoul('qa-reviewer', { soul: 'Strict.' }))).toMatchObject({ soul: 'Strict.' });
  });

  it('succeeds ten times concurrently, with a version for each', async () => {
    const answers = await sendConcurrently(10, (nth) => api.setSoul('writer', { soul: `Soul ${nth}` }));
    expect(answers.map((answer) => agentOf(answer).soul)).toEqual(answers.map((_, nth) => `Soul ${nth}`));
    const read = await api.get('writer');
    const [last] = answers.filter(({ headers }) => headers.ETag === '"11"');
    expect([read.headers.ETag, read.body]).toEqual(['"11"', last?.body]);
  });
});

describe('an update of the soul is rejected', () => {
  it.each([
    ['no body', undefined, { path: 'soul', code: 'required' }],
    ['a read-only field', { soul: 'x', name: 'writer' }, { path: 'name', code: 'read_only' }],
    [
      'the prompt, which another endpoint changes',
      { soul: 'x', systemPrompt: 'y' },
      { path: 'systemPrompt', code: 'read_only', message: 'systemPrompt cannot be set here; leave it out' },
    ],
    ['an unknown field', { soul: 'x', souls: 'x' }, { path: 'souls', code: 'unknown_field' }],
  ])('with 400 validation_failed for %s', async (_, body, fault) => {
    const send = () => api.setSoul('writer', body);
    expect((await api.refuses(send, 400, 'validation_failed')).details).toMatchObject([fault]);
  });

  it('with 404 for an absent agent, an invalid name and an agent of another organization', async () => {
    const other = await newAgentsApi();
    const soul = { soul: 'x' };
    for (const name of ['absent-agent', 'WRITER']) {
      await api.refuses(() => api.setSoul(name, soul), 404, 'not_found');
      await other.refuses(() => other.setSoul('writer', soul), 404, 'not_found');
    }
  });

  it('with 401 without a token and 403 without the scope', async () => {
    const reader = await newAgentsApi(['agents:read', 'agents:execute']);
    await reader.refuses(() => reader.setSoul('qa-reviewer', {}, { token: '' }), 401, 'unauthorized');
    await reader.refuses(() => reader.setSoul('qa-reviewer', {}), 403, 'insufficient_scope');
  });
});
