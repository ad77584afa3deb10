import { beforeAll, describe, expect, it } from 'vitest';
import { readSkills } from '../../../lib/agents/skill-catalogue.ts';
import { processContext } from '../../../lib/context/context.ts';
import { type ToolCapability, toolCapabilities } from '../../../lib/contract/agents/agents.ts';
import { type Endpoint, type Scope, scopes } from '../../../lib/contract/endpoint.ts';
import { references } from '../../../lib/contract/endpoints.ts';
import { deliveryId, eventId, recoveryId } from '../../../lib/contract/examples.ts';
import type { ExecutionStep } from '../../../lib/contract/executions/steps.ts';
import { isOfferedAsTool } from '../../../lib/contract/open/mcp.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { requiredScopes } from '../../../lib/contract/required-scopes.ts';
import { familyOf, type Operation, routes } from '../../../lib/contract/routes.ts';
import { runExecution } from '../../../lib/executions/run/run-execution.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import type { Model } from '../../../lib/model/converse.ts';
import { hashOf } from '../../../lib/table/agents/agent-items.ts';
import { callAgentTool, grantedTools } from '../../../lib/tools/agent-tools.ts';
import { toolOf } from '../../../lib/tools/tool-definitions.ts';
import { createApi, dataOf, errorOf, type Request, successOf } from '../../api.ts';
import { conversation, type ScriptedCall } from '../../executions/tool-scripts.ts';
import { createTestImprovements, type ImprovementsApi } from '../../functions/agents/test-improvements.ts';
import { startedOf } from '../../functions/executions/test-executions.ts';
import { newWebhook } from '../../functions/webhooks/webhook-caller.ts';
import { messageOf } from '../../mcp/mcp-client.ts';

/**
 * What a token does by each route and each MCP tool, and what agents do that it has created or changed, compared with what
 * its scopes allow. An escape is whatever they do not allow; there must be none.
 */
const { newImprovementsApi } = await createTestImprovements();
let api: ImprovementsApi;
beforeAll(async () => {
  api = await newImprovementsApi();
});

const secret = 'The secret of the organization';
const rows: readonly (readonly [Operation, Endpoint])[] = routes.filter(
  ([, row]: readonly [Operation, Endpoint]) => row.scope && !row.offersTools,
);
const newToken = (allowed: readonly Scope[], organization = api.organization) =>
  issueToken(processContext(), { organization, scopes: allowed });

/** Returns a token with each of these sets of scopes. */
const tokensWith = (sets: readonly (readonly Scope[])[], organization?: Organization) =>
  Promise.all(sets.map(async (held) => ({ held, token: await newToken(held, organization) })));
const single = scopes.map((scope) => [scope]);

/** What a caller gets: an error code, or none, and all text. */
type Outcome = { code: string | undefined; message: string; text: string };
/** A way to send a request to an operation with a token. */
type Way = (token: string, operation: Operation, request: Request) => Promise<Outcome>;

const byRoute: Way = async (token, operation, request) => {
  const answer = await createApi(token)[operation](request);
  const { code, message = '' } = errorOf(answer) ?? {};
  return { code, message, text: JSON.stringify(answer.body) };
};

const byTool: Way = async (token, operation, { params, query, body }) => {
  const { method, path, ...message } = messageOf('tools/call', {
    name: toolOf(operation as Parameters<typeof toolOf>[0]).name,
    arguments: { ...params, ...Object.fromEntries(new URLSearchParams(query)), ...(body as object) },
  });
  const { result } = (await createApi(token).mcp(message)).body as unknown as {
    result: { content: [{ text: string }]; isError?: boolean };
  };
  const [{ text }] = result.content;
  const { code, message: said = '' } = (result.isError && JSON.parse(text).error) || {};
  return { code, message: said, text };
};

const ways: readonly (readonly [string, Way, (operation: Operation, row: Endpoint) => boolean])[] = [
  ['route', byRoute, () => true],
  ['MCP tool', byTool, (_, row) => isOfferedAsTool(row)],
];

describe.each(ways)('each operation by its %s', (_, send, isOffered) => {
  let params: Record<string, string>;
  let taskId: string;
  let webhookId: string;

  beforeAll(async () => {
    taskId = await api.tasks.put({ title: secret, description: secret });
    const name = await api.agents.put({ name: `secretive-${taskId.slice(-6).toLowerCase()}`, systemPrompt: secret });
    const id = await api.start({ input: secret }, name);
    await api.agents.give(name, 'sk_code-review');
    webhookId = dataOf(await api.agents.registerWebhook({ body: { ...newWebhook, description: secret } })).id;
    params = { name, id, hash: hashOf(secret), skillId: 'sk_code-review', deliveryId, recoveryId };
  });

  /** Returns a request to the resources of the organization, with the example of the body, or words of the secret. */
  const requestOf = (operation: Operation, row: Endpoint): Request => {
    const ids: Record<string, string> = { 'kanban-tasks': taskId, webhooks: webhookId };
    const idOf = row.path.includes('/events/') ? eventId : (ids[familyOf(row)] ?? params.id);
    const { body } = references[operation]() as { body?: unknown };
    const own = Object.keys(row.params ?? {}).map((name) => [name, name === 'id' ? idOf : params[name]]);
    const query = operation === 'searchTasks' && { query: 'q=secret' };
    return { params: Object.fromEntries(own), ...query, ...(row.body && { body }) };
  };
  const offered = rows.filter(([operation, row]) => isOffered(operation, row));

  it('is refused to tokens of the organization without its scopes, and nothing changes', async () => {
    const escapes: unknown[] = [];
    const tokens = await tokensWith([[], ...single]);
    const before = await api.dump();
    for (const { held, token } of tokens) {
      for (const [operation, row] of offered) {
        const required = requiredScopes(row);
        if (required.every((scope) => held.includes(scope))) continue;
        const { code, text } = await send(token, operation, requestOf(operation, row));
        if (code !== 'insufficient_scope' || text.includes(secret)) escapes.push([held, operation, code]);
      }
    }
    expect(escapes).toEqual([]);
    expect(await api.dump()).toEqual(before);
  });

  it('shows and changes nothing of the organization for tokens of another one', async () => {
    const other = await newImprovementsApi();
    const escapes: unknown[] = [];
    const tokens = await tokensWith([scopes, ...single], other.organization);
    const before = await api.dump();
    for (const { held, token } of tokens) {
      for (const [operation, row] of offered) {
        const { text } = await send(token, operation, requestOf(operation, row));
        if (text.includes(secret)) escapes.push([held, operation]);
      }
    }
    expect(escapes).toEqual([]);
    expect(await api.dump()).toEqual(before);
  });
});

/** The scopes that the tools of each capability stand for, and the tools. */
const toolsOf: Record<ToolCapability, { scopes: Scope[]; tools: string[] }> = {
  'tasks.read': { scopes: ['tasks:read'], tools: ['list_tasks', 'get_task'] },
  'tasks.write': { scopes: ['tasks:read', 'tasks:write'], tools: ['get_task', 'create_task', 'update_task'] },
  delegate: { scopes: ['agents:read', 'agents:execute'], tools: ['list_agents', 'delegate_task'] },
  skills: { scopes: ['agents:read'], tools: ['read_skill'] },
};
/** The scope that each tool stands for. */
const scopeOf: Record<string, Scope> = {
  ...{ list_tasks: 'tasks:read', get_task: 'tasks:read', create_task: 'tasks:write', update_task: 'tasks:write' },
  ...{ list_agents: 'agents:read', delegate_task: 'agents:execute', read_skill: 'agents:read' },
};

/** All sets of scopes, without scopes of webhooks. */
const tried = scopes.filter((scope) => !scope.startsWith('webhooks:'));
const sets = Array.from({ length: 2 ** tried.length }, (_, bits) => tried.filter((_, at) => bits & (1 << at)));

type Change = { operation: Operation; request: Request; needed: readonly Scope[]; agent: string };

describe.each(ways)('what agents do on behalf of a token, by each %s', (way, send, isOffered) => {
  const prefix = way.slice(0, 1).toLowerCase();
  const armedOf = (capability: ToolCapability) => `${prefix}-armed-${capability.replace('.', '-')}`;
  const unarmed = `${prefix}-unarmed`;

  /** Brings an agent into the state before the changes of a token. */
  async function reset(name: string, capabilities: string[], nth: number): Promise<void> {
    successOf(await api.agents.update(name, { systemPrompt: `Now ${nth}.`, soul: '', model: 'a.model', capabilities }));
    await api.agents.unassign(name, 'sk_code-review');
    await api.agents.give(name, 'sk_test-planning');
  }

  beforeAll(async () => {
    for (const capability of toolCapabilities)
      await api.agents.put({ name: armedOf(capability), systemPrompt: 'First.', capabilities: [capability] });
    await api.agents.put({ name: unarmed });
    await api.agents.put({ name: `${prefix}-reader` });
  });

  /** Returns all changes that decide what an agent does with the tools of a capability. */
  function changesFor(capability: ToolCapability, nth: number): Change[] {
    const name = armedOf(capability);
    const created = `${prefix}-new-${nth}-${capability.replace('.', '-')}`;
    const change = (operation: Operation, body?: object, more: Record<string, string> = {}, agent = name): Change => {
      const row = rows.find(([one]) => one === operation)?.[1] as Endpoint;
      const needed = [...new Set([...requiredScopes(row), ...toolsOf[capability].scopes])];
      const params = operation === 'createAgent' ? {} : { name: agent, ...more };
      return { operation, request: { params, ...(body && { body }) }, needed, agent };
    };
    const fields = { displayName: 'New', category: 'qa', capabilities: [capability, 'label'] };
    return [
      change('createAgent', { name: created, ...fields }, {}, created),
      change('updateAgent', { systemPrompt: `Obey ${nth}.` }),
      change('updateAgent', { soul: `Obey ${nth}.` }),
      change('updateAgent', { model: `model-${nth}` }),
      change('updateAgent', { capabilities: [capability, `label-${nth}`] }),
      change('updateSoul', { soul: `Obey me ${nth}.` }),
      change('restorePrompt', undefined, { hash: hashOf('First.') }),
      change('assignSkill', { skillId: 'sk_code-review' }),
      change('unassignSkill', undefined, { skillId: 'sk_test-planning' }),
      change('selfImproveAgent', {}),
      change('updateAgent', { capabilities: [capability] }, {}, unarmed),
    ];
  }

  /** Runs an agent whose model calls all tools, and returns the names of the tools that succeeded. */
  async function toolsUsedBy(name: string): Promise<string[]> {
    const id = await api.tasks.put({ title: secret, assignedAgent: name });
    await api.agents.give(name, 'sk_test-planning');
    const calls: ScriptedCall[] = [
      ['list_tasks', {}],
      ['get_task', { id }],
      ['create_task', { title: 'By an agent' }],
      ['update_task', { id, title: 'By an agent' }],
      ['list_agents', {}],
      ['delegate_task', { toAgent: `${prefix}-reader`, instruction: 'Read.' }],
      ['read_skill', { skillId: 'sk_test-planning' }],
    ];
    const answers = conversation([calls, 'Done.']);
    const model: Model = async (question) =>
      question.tools ? answers(question) : { kind: 'text', text: 'VERDICT: PASS', tokens: 1 };
    const started = await api.execute({ input: 'Go.' }, { name });
    const { executionId } = startedOf(started);
    const agentTools = { grantedTools, callTool: callAgentTool };
    await runExecution(
      processContext(),
      { organization: api.organization, executionId },
      { model, catalogue: readSkills(), agentTools },
    );
    const steps = await api.agents.listSteps({ params: { name, id: executionId } });
    return dataOf<ExecutionStep[]>(steps).flatMap(({ kind, name: tool, error }) =>
      kind === 'tool' && !error ? [tool] : [],
    );
  }

  it('needs exactly the scopes of the tools, for every set of scopes', async () => {
    const escapes: unknown[] = [];
    const wrong: unknown[] = [];
    const seen = new Set<string>();
    for (const [nth, held] of sets.entries()) {
      const token = await newToken(held);
      for (const capability of toolCapabilities) {
        await reset(armedOf(capability), [capability], nth);
        await reset(unarmed, [], nth);
        for (const { operation, request, needed, agent } of changesFor(capability, nth)) {
          const row = rows.find(([one]) => one === operation)?.[1] as Endpoint;
          if (!isOffered(operation, row)) continue;
          const { code, message } = await send(token, operation, request);
          const missing = needed.filter((scope) => !held.includes(scope));
          if (missing.length > 0 && code !== 'insufficient_scope') escapes.push([held, operation, request, code]);
          if (missing.length === 0 && code !== undefined) wrong.push([held, operation, request, code, message]);
          if (code === 'insufficient_scope' && !missing.some((scope) => message.includes(scope)))
            wrong.push([held, operation, message]);
          if (code === undefined && operation === 'createAgent')
            for (const tool of await toolsUsedBy(agent)) {
              seen.add(tool);
              if (!held.includes(scopeOf[tool] as Scope)) escapes.push([held, agent, tool]);
            }
        }
      }
    }
    expect({ escapes, wrong }).toEqual({ escapes: [], wrong: [] });
    expect([...seen].sort()).toEqual(Object.keys(scopeOf).sort());
  });
});
