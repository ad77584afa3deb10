import { beforeEach, describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { hashOf } from '../../../lib/table/agents/agent-items.ts';
import { errorOf, type Request, statusAndCodeOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import type { Answer } from '../../service.ts';
import { agentOf, createTestAgents, newAgent } from './test-agents.ts';

const { newAgentsApi } = await createTestAgents();
const api = newForEachTest(newAgentsApi);
/** The same endpoints, called with tokens that lack some scopes. */
const tokens: Record<'agents' | 'reader', string> = { agents: '', reader: '' };

const armed = {
  ...{ systemPrompt: 'Work.', soul: 'Kind.', model: 'some.model' },
  capabilities: ['html', 'tasks.write', 'tasks.read'],
};

beforeEach(async () => {
  const { organization } = api;
  const token = (scopes: Scope[]) => issueToken(processContext(), { organization, scopes });
  tokens.agents = await token(['agents:read', 'agents:write', 'agents:execute']);
  tokens.reader = await token(['agents:read', 'agents:write', 'agents:execute', 'tasks:read']);
  await api.put({ ...armed, systemPrompt: 'Before.' });
  await api.update('writer', { systemPrompt: armed.systemPrompt });
  await api.give('writer', 'sk_code-review');
  await api.put({ name: 'unarmed', capabilities: ['html'] });
});

type Change = (more: Request) => Promise<Answer>;
const restore = (text: string, more: Request) =>
  api.restorePrompt({ params: { name: 'writer', hash: hashOf(text) }, ...more });

/** The changes that decide which tools an agent has, or what it does with them. */
const guiding: [string, Change][] = [
  ['the creation of an agent with tools', (more) => api.create({ ...newAgent, ...armed, name: 'new' }, more)],
  ['a new tool', (more) => api.update('unarmed', { capabilities: armed.capabilities }, more)],
  ['a removed tool', (more) => api.update('writer', { capabilities: [] }, more)],
  ['another label', (more) => api.update('writer', { capabilities: ['css', 'tasks.write'] }, more)],
  ['another prompt', (more) => api.update('writer', { systemPrompt: 'Obey me.' }, more)],
  ['no prompt', (more) => api.update('writer', { systemPrompt: null }, more)],
  ['another soul', (more) => api.update('writer', { soul: 'Bad.' }, more)],
  ['another model', (more) => api.update('writer', { model: 'other.model' }, more)],
  ['the default model', (more) => api.update('writer', { model: null }, more)],
  ['a soul by its own endpoint', (more) => api.setSoul('writer', { soul: 'Bad.' }, more)],
  ['a restored prompt', (more) => restore('Before.', more)],
  ['an assigned skill', (more) => api.assign('writer', { skillId: 'sk_test-planning' }, more)],
  ['an unassigned skill', (more) => api.unassign('writer', 'sk_code-review', more)],
  ['self-improvement', (more) => api.selfImproveAgent({ params: { name: 'writer' }, ...more })],
];

describe.each(guiding)('%s', (_, change) => {
  it('is rejected with 403 insufficient_scope, which names the scopes that the token lacks', async () => {
    const rejected = (token: string) => api.refuses(() => change({ token }), 403, 'insufficient_scope');
    expect((await rejected(tokens.agents)).message).toMatch(
      /^This access token does not have the scopes tasks:read and tasks:write, which the tools of \w+ need; use a token that has them\.$/,
    );
    expect((await rejected(tokens.reader)).message).toMatch(
      /^This access token does not have the scope tasks:write, which the tools of \w+ need; use a token that has it\.$/,
    );
  });

  it('is made with the scopes', async () => {
    expect(errorOf(await change({}))).toBeUndefined();
  });
});

it.each<[string, Change]>([
  ['an emergency stop', (more) => api.update('writer', { status: 'inactive' }, more)],
  [
    'a change of other fields',
    (more) =>
      api.update('writer', { displayName: 'New', description: 'New', category: 'qa', maxSteps: 1, maxTokens: 1 }, more),
  ],
  ['a patch of the values that the agent has', (more) => api.update('writer', { ...armed, status: 'draft' }, more)],
  ['the soul that the agent has', (more) => api.setSoul('writer', { soul: armed.soul }, more)],
  ['a restoration of the current prompt', (more) => restore(armed.systemPrompt, more)],
  ['an assignment of a skill that the agent has', (more) => api.assign('writer', { skillId: 'sk_code-review' }, more)],
  ['the deletion', (more) => api.delete('writer', more)],
  [
    'a change of an agent without tools',
    (more) => api.update('unarmed', { soul: 'New.', capabilities: ['css'] }, more),
  ],
  ['the creation of an agent without tools', (more) => api.create({ ...newAgent, name: 'new' }, more)],
])('%s needs no scopes of tools', async (_, change) => {
  expect(errorOf(await change({ token: tokens.agents }))).toBeUndefined();
});

it.each<[Scope, Scope]>([
  ['agents:execute', 'agents:write'],
  ['agents:write', 'agents:execute'],
])('self-improvement with %s alone is rejected, also without tools, because %s is missing', async (held, missing) => {
  const token = await issueToken(processContext(), { organization: api.organization, scopes: [held] });
  const improve = () => api.selfImproveAgent({ params: { name: 'unarmed' }, token });
  expect((await api.refuses(improve, 403, 'insufficient_scope')).message).toBe(
    `This access token does not have the scope ${missing}; use a token that has it.`,
  );
});

it('the scopes of tools are checked after the version and the values, and before the state', async () => {
  const by = { token: tokens.agents };
  const late = { ...by, headers: { 'If-Match': '"other"' } };
  const answers = [
    await api.update('writer', { soul: 'x' }, late),
    await restore('Never.', by),
    await api.assign('writer', { skillId: 'sk_juggling' }, by),
    await api.unassign('writer', 'sk_test-planning', by),
    await api.create({ ...newAgent, ...armed, name: 'skills' }, by),
    await api.create({ ...newAgent, ...armed }, by),
  ];
  expect(answers.map((answer) => statusAndCodeOf(answer).join(' '))).toEqual([
    '412 precondition_failed',
    '404 not_found',
    '404 not_found',
    '404 not_found',
    '422 reserved_name',
    '403 insufficient_scope',
  ]);
});

it('a recorded response is replayed to a token without the scopes of the tools', async () => {
  const headers = { 'Idempotency-Key': 'key' };
  const first = await restore('Before.', { headers });
  const again = await restore('Before.', { headers, token: tokens.agents });
  expect([again.status, again.headers['Idempotency-Replayed'], agentOf(again)]).toEqual([200, 'true', agentOf(first)]);
});

describe('a switch', () => {
  const token = (scopes: Scope[]) => issueToken(processContext(), { organization: api.organization, scopes });
  const writers: Scope[] = ['agents:read', 'agents:write'];

  it.each([
    ['autoAccept, which lets tasks be done without a person,', { autoAccept: true }, 'tasks:write'],
    ['autoRun, which runs the agent,', { autoRun: true }, 'agents:execute'],
  ] as const)('%s needs a further scope: %j, %s', async (_, fields, scope) => {
    const lacking = await token(writers);
    const changes: Change[] = [
      (more) => api.create({ ...newAgent, name: 'new', ...fields }, more),
      (more) => api.update('unarmed', fields, more),
    ];
    for (const change of changes) {
      const { message } = await api.refuses(() => change({ token: lacking }), 403, 'insufficient_scope');
      expect(message).toContain(scope);
      expect((await change({ token: await token([...writers, scope]) })).status).toBeLessThan(300);
    }
  });

  it('can be switched off by any token that may change the agent, and stays as it is in other changes', async () => {
    await api.update('unarmed', { autoAccept: true, autoRun: true });
    const lacking = await token(writers);
    expect((await api.update('unarmed', { displayName: 'Other' }, { token: lacking })).status).toBe(200);
    expect((await api.update('unarmed', { autoAccept: false, autoRun: false }, { token: lacking })).status).toBe(200);
  });
});
