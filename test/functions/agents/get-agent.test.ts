import { expect, it } from 'vitest';
import { standardConduct } from '../../../lib/contract/agents/standard-conduct.ts';
import { versionOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { agentOf, createTestAgents } from './test-agents.ts';

const { newAgentsApi } = await createTestAgents();
const api = newForEachTest(newAgentsApi);

const texts = ['id', 'name', 'displayName', 'description', 'category', 'model', 'systemPrompt', 'soul'];
const keysInOrder = [
  ...texts,
  'capabilities',
  'status',
  ...Object.keys(standardConduct),
  'isSystem',
  'createdAt',
  'updatedAt',
];

it('a read returns the whole agent, in the order of the contract, with the ETag of its version', async () => {
  await api.put({ description: 'Writes', systemPrompt: 'Write.', soul: 'Kind.' });
  const answer = await api.get('writer');
  expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
  expect(Object.keys(agentOf(answer))).toEqual(keysInOrder);
  expect(agentOf(answer)).toMatchObject({ systemPrompt: 'Write.', soul: 'Kind.', isSystem: false });
  expect(versionOf(answer)).toBe(1);
});

it('a read omits an unset description', async () => {
  await api.put();
  const keys = Object.keys(agentOf(await api.get('writer')));
  expect(keys).toEqual(keysInOrder.filter((key) => key !== 'description'));
});

it.each([
  ['qa-reviewer', 'qa'],
  ['prompt-improver', 'operations'],
])('a read returns the system agent %s with isSystem', async (name, category) => {
  const agent = agentOf(await api.get(name));
  expect(Object.keys(agent)).toEqual(keysInOrder);
  expect(agent).toMatchObject({ name, category, isSystem: true, status: 'active', soul: '' });
  expect(agent.updatedAt).toBe(agent.createdAt);
  expect(agent.systemPrompt).toMatch(/^You /);
});
