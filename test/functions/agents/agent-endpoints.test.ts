import { beforeEach, describe, expect, it } from 'vitest';
import { pathParameters } from '../../../lib/contract/endpoint.ts';
import { endpoints } from '../../../lib/contract/endpoints.ts';
import type { Operation } from '../../../lib/contract/routes.ts';
import { hashOf } from '../../../lib/table/agents/agent-items.ts';
import type { Request } from '../../api.ts';
import {
  createTestExecutions,
  type ExecutionsApi,
  newDelegation,
  newExecution,
} from '../executions/test-executions.ts';
import { newAgent } from './test-agents.ts';

const { newExecutionsApi } = await createTestExecutions();

/** The operations on one agent. `tsc` fails for an operation without a request below. */
type AgentOperation = {
  [Name in Operation]: (typeof endpoints)[Name]['path'] extends `/api/agents/:name${string}` ? Name : never;
}[Operation];

const skillId = 'sk_code-review';
/** The hash of the prompt of the agent `writer`, which is empty. */
const hash = hashOf('');

/** A valid request to each operation; its parameters name the agent `writer`. */
const requests: Record<AgentOperation, Request> = {
  getAgent: {},
  updateAgent: { body: { displayName: 'New', soul: 'New.' } },
  updateSoul: { body: { soul: 'New.' } },
  deleteAgent: {},
  listSkills: {},
  assignSkill: { body: { skillId: 'sk_release-notes' } },
  unassignSkill: {},
  executeAgent: { body: newExecution },
  delegateTask: { body: { ...newDelegation, toAgent: 'qa-reviewer' } },
  listAgentExecutions: {},
  getExecution: {},
  listSteps: {},
  cancelExecution: {},
  rerunExecution: {},
  getMetrics: {},
  getAgentHistory: {},
  listPrompts: {},
  getPrompt: {},
  restorePrompt: {},
  listImprovements: {},
  selfImproveAgent: {},
};

/** Creates an organization whose agent `writer` has a skill and a running execution, with a function that sends a request. */
async function createSender() {
  const api = await newExecutionsApi();
  await api.agents.give('writer', skillId);
  const id = await api.start();
  const send = (operation: AgentOperation, name = 'writer', of = { id }) =>
    api.agents[operation]({ ...requests[operation], params: { name, skillId, hash, ...of } });
  return { ...api, id, send };
}

let api: ExecutionsApi & Awaited<ReturnType<typeof createSender>>;
beforeEach(async () => {
  api = await createSender();
});

describe.each(Object.keys(requests) as AgentOperation[])('%s', (operation) => {
  it('does not change the agent with the same name of another organization', async () => {
    const other = await createSender();
    const before = await other.dump();
    expect((await api.send(operation)).status).toBe(endpoints[operation].status);
    expect(await other.dump()).toEqual(before);
  });

  it('leads to 404 not_found for an absent agent, and for a name that is not one', async () => {
    for (const name of ['absent-agent', 'Writer', 'No Name', 'x'.repeat(65), 'executions', '__proto__', 'writer\n', ''])
      await api.refuses(() => api.send(operation, name), 404, 'not_found');
  });

  it('leads to 404 not_found for the agent of another organization, which does not change', async () => {
    const other = await createSender();
    await other.agents.put({ name: 'theirs' });
    await other.agents.give('theirs', skillId);
    const id = await other.start({}, 'theirs');
    const before = await other.dump();
    await api.refuses(() => api.send(operation, 'theirs', { id }), 404, 'not_found');
    expect(await other.dump()).toEqual(before);
  });

  it('leads to 404 not_found after the agent was deleted', async () => {
    expect((await api.agents.delete('writer')).status).toBe(200);
    await api.refuses(() => api.send(operation), 404, 'not_found');
  });
});

it.each(
  (Object.keys(requests) as AgentOperation[]).filter(
    (operation) => pathParameters(endpoints[operation].path).length > 1,
  ),
)('%s leads to 404 not_found for an id that the agent does not have', async (operation) => {
  const executions = ['ex_01K00000000000000000000000', 'ex_1', api.id.toLowerCase(), 'tk_01K00000000000000000000000'];
  const skills = ['sk_release-notes', 'sk_juggling', 'code-review', 'SK_CODE-REVIEW', 'sk_a#b'];
  const prompts = [hashOf('Other.'), hash.toUpperCase(), hash.slice(7), `${hash}0`];
  for (const id of [...executions, ...skills, ...prompts, `sk_${'a'.repeat(2000)}`, '__proto__', '']) {
    const params = { name: 'writer', id, skillId: id, hash: id };
    await api.refuses(() => api.agents[operation]({ params }), 404, 'not_found');
  }
  const params = { name: 'qa-reviewer', id: api.id, skillId, hash };
  await api.refuses(() => api.agents[operation]({ params }), 404, 'not_found');
});

it.each(['createAgent', 'assignSkill', 'executeAgent', 'delegateTask', 'restorePrompt', 'selfImproveAgent'] as const)(
  '%s is carried out once under an Idempotency-Key',
  async (operation) => {
    const { body = {} } = operation === 'createAgent' ? { body: { ...newAgent, name: 'new' } } : requests[operation];
    const headers = { 'Idempotency-Key': 'key' };
    const send = () => api.agents[operation]({ params: { name: 'writer', hash }, body, headers });
    const first = await send();
    const before = await api.dump();
    const again = await send();
    expect([again.status, again.body]).toEqual([endpoints[operation].status, first.body]);
    expect(again.headers['Idempotency-Replayed']).toBe('true');
    expect(await api.dump()).toEqual(before);
  },
);
