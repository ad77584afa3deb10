import { ulid } from 'ulid';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { openAgents } from '../../lib/agents/agents.ts';
import { Agent, createAgent } from '../../lib/contract/agents.ts';
import { timeOf, timestamp, ulidOf } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { check } from '../../lib/http/faults.ts';
import type { StoredAgent } from '../../lib/table/agent-items.ts';
import type { AgentStore } from '../../lib/table/agents.ts';

/** The agents that an organization is given, by a clock that ticks whenever it is asked. */
async function given(): Promise<readonly StoredAgent[]> {
  let now = Date.UTC(2026, 0, 1);
  const clock = () => ++now;
  let provisioned: readonly StoredAgent[] = [];
  const store: Pick<AgentStore, 'provision'> = {
    provision: async (_, agents) => {
      provisioned = agents;
    },
  };
  const parts = {
    store: store as AgentStore,
    purges: { hide: async () => {} },
    settings: { get: async () => ({}) },
    defaultModel: 'some.model',
    ulid: () => ulid(clock()),
    clock,
  };
  await openAgents(parts).provision('org' as Organization);
  return provisioned;
}
const systemAgents = await given();

it('every organization starts with the two that executions and self-improvement ask', () => {
  expect(systemAgents.map(({ name }) => name)).toEqual(['qa-reviewer', 'prompt-improver']);
});

it.each(systemAgents)('$name is an agent that a create could have made, but for being a system agent', (agent) => {
  expect(v.is(Agent, agent)).toBe(true);
  expect(agent).toMatchObject({ isSystem: true, version: 1, status: 'active', model: 'some.model' });
  const { id: _, isSystem: __, version: ___, createdAt: ____, updatedAt: _____, ...body } = agent;
  expect(check(createAgent.body, body)).toEqual({ output: body, faults: [] });
});

it.each(systemAgents)('$name was last changed when it was created: at the time of its id', ({ id, updatedAt }) => {
  expect(updatedAt).toBe(timestamp(timeOf(ulidOf(id))));
});
