import { ulid } from 'ulid';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { createSystemAgents } from '../../lib/agents/agents.ts';
import { Agent, createAgent } from '../../lib/contract/agents/agents.ts';
import { timeOf, timestamp, ulidOf } from '../../lib/contract/ids.ts';
import { validate } from '../../lib/contract/requests/validate.ts';
import type { StoredAgent } from '../../lib/table/agents/agent-items.ts';
import { readAgent, readAgents } from '../../lib/table/agents/agents.ts';
import { createTestTable, newOrganization } from '../table/tasks/test-table.ts';

const board = await createTestTable();
const organization = newOrganization();
let now = Date.UTC(2026, 0, 1);
await createSystemAgents({ ...board, defaultModel: 'its.model', ulid: () => ulid(++now) }, organization);
const oldestFirst = (await readAgents(board, organization)).toReversed();
const systemAgents = await Promise.all(
  oldestFirst.map(async ({ name }) => (await readAgent(board, organization, name)) as StoredAgent),
);

it('a new organization has the agents that executions and self-improvement use', () => {
  expect(systemAgents.map(({ name }) => name)).toEqual(['qa-reviewer', 'prompt-improver']);
});

it.each(systemAgents)('$name is a valid agent except that it is a system agent', (agent) => {
  expect(v.is(Agent, agent)).toBe(true);
  const updatedAt = timestamp(timeOf(ulidOf(agent.id)));
  expect(agent).toMatchObject({ isSystem: true, version: 1, status: 'active', model: 'its.model', updatedAt });
  const { id, isSystem, version, createdAt, updatedAt: changedAt, ...body } = agent;
  expect(validate(createAgent.body, body)).toEqual({ output: body, errors: [] });
});
