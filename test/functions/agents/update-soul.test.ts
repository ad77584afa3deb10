import { beforeEach, expect, it } from 'vitest';
import { versionOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { agentOf, createTestAgents } from './test-agents.ts';

const { newAgentsApi } = await createTestAgents();
const api = newForEachTest(newAgentsApi);
beforeEach(async () => {
  await api.put({ systemPrompt: 'Write.', soul: 'Kind.' });
});

it.each([' \u0001 ', '', 'Write.'])(
  'an update of the soul to %j returns what a read returns afterwards',
  async (soul) => {
    const before = agentOf(await api.get('writer'));
    const answer = await api.setSoul('writer', { soul });
    const read = await api.get('writer');
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body)).toBe(JSON.stringify(read.body));
    expect(agentOf(read)).toEqual({ ...before, soul, updatedAt: agentOf(read).updatedAt });
    expect([answer, read].map(versionOf)).toEqual([2, 2]);
  },
);

it('an update of the soul to the same text writes nothing', async () => {
  const [before, read] = [await api.dump(), await api.get('writer')];
  const answer = await api.setSoul('writer', { soul: 'Kind.' });
  expect([answer.status, answer.body, versionOf(answer)]).toEqual([200, read.body, 1]);
  expect(await api.dump()).toEqual(before);
});
