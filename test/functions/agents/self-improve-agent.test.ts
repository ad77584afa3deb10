import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import { readPromptChanges } from '../../../lib/table/agents/agents.ts';
import { createTimeline } from '../../executions/timeline.ts';
import { additions, proposes } from '../../improvements/learning-model.ts';
import { agentOf } from './test-agents.ts';
import { createTestImprovements, type ImprovementsApi, improvementOf } from './test-improvements.ts';

const { service, bedrock, newImprovementsApi, teach } = await createTestImprovements();
const unchanged = await newImprovementsApi();
let api: ImprovementsApi;
let asked: ReturnType<typeof teach>;
beforeEach(() => {
  asked = teach();
});

const sha256 = (text: string) => `sha256:${createHash('sha256').update(Buffer.from(text, 'utf8')).digest('hex')}`;
const better = (prompt: string) => `${prompt}\n\n${additions.better}`;
const writer = async () => agentOf(await api.agents.get('writer'));

describe('a pass of self-improvement', () => {
  beforeEach(async () => {
    api = await newImprovementsApi();
  });

  it('returns 200 with exactly improved, changesSummary, previousPromptHash and newPromptHash', async () => {
    const before = await writer();
    const answer = await api.improve({});
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
    const fields = ['improved', 'changesSummary', 'previousPromptHash', 'newPromptHash'];
    expect(Object.keys(improvementOf(answer))).toEqual(fields);
    expect(improvementOf(answer)).toEqual({
      improved: true,
      changesSummary: 'It asks for more.',
      previousPromptHash: sha256('Write.'),
      newPromptHash: sha256(better('Write.')),
    });
    expect(answer.headers).not.toHaveProperty('ETag');
    const { updatedAt, ...after } = await writer();
    expect(after).toEqual({ ...after, ...before, systemPrompt: better('Write.'), updatedAt: undefined });
    expect(updatedAt > before.updatedAt).toBe(true);
  });

  it('changes the ETag, so that an update with the earlier ETag is rejected', async () => {
    const { ETag = '' } = (await api.agents.get('writer')).headers;
    await api.improve();
    const earlier = { headers: { 'If-Match': ETag } };
    const patch = { systemPrompt: 'Mine.' };
    await api.refuses(() => api.agents.update('writer', patch, earlier), 412, 'precondition_failed');
  });

  it('hashes the UTF-8 bytes of a prompt, also of an empty prompt', async () => {
    for (const systemPrompt of ['Schreib schön. 🖋️', '']) {
      await api.agents.update('writer', { systemPrompt });
      teach({ proposal: proposes(additions.idle) });
      expect(improvementOf(await api.improve())).toMatchObject({
        improved: false,
        previousPromptHash: sha256(systemPrompt),
        newPromptHash: sha256(systemPrompt),
      });
    }
  });

  it('changes nothing if no proposal is better, and says why', async () => {
    teach({ proposal: proposes(additions.worse, 'It lets it guess.') });
    const before = await api.dump();
    const { data } = (await api.improve()).body;
    expect(data).toMatchObject({
      improved: false,
      changesSummary: 'The proposal was seen to do worse: It lets it guess.',
    });
    expect(await api.dump()).toEqual(before);
  });

  it('uses 20 executions and no focus without a body', async () => {
    await Promise.all(Array.from({ length: 20 }, () => api.start()));
    const { changesSummary } = improvementOf(await api.improve());
    expect(changesSummary).toBe('There is nothing to learn from: no execution has finished yet.');
    expect(improvementOf(await api.improve({ lookbackExecutions: 21 })).improved).toBe(true);
    expect(asked[0]?.user).not.toContain('<focus>');
  });

  it.each([1, 100])('accepts a lookback of %d executions', async (lookbackExecutions) => {
    expect((await api.improve({ lookbackExecutions })).status).toBe(200);
  });

  it('accepts a focus of 1,000 characters, and passes it to the model', async () => {
    const focusArea = '😀'.repeat(1_000);
    expect((await api.improve({ focusArea })).status).toBe(200);
    expect(asked[0]?.user).toContain(`<focus>\n${focusArea}\n</focus>`);
  });

  it.each(['inactive', 'draft'])('accepts an agent that is %s', async (status) => {
    await api.agents.update('writer', { status });
    expect(improvementOf(await api.improve()).improved).toBe(true);
    expect((await writer()).status).toBe(status);
  });

  it('records the token that changed the prompt', async () => {
    await api.improve();
    const [change] = await readPromptChanges(service, api.organization, (await writer()).id);
    expect(change).toMatchObject({
      why: 'self-improved',
      summary: 'It asks for more.',
      promptHash: sha256(better('Write.')),
    });
    expect(api.token).toContain(change?.by);
  });
});

describe('a pass is rejected, calls no model and writes nothing,', () => {
  const refused = async (send: () => ReturnType<ImprovementsApi['improve']>, status: number, code: string) => {
    const error = await unchanged.refuses(send, status, code);
    expect(asked).toEqual([]);
    return error;
  };

  it.each<[string, unknown, string, string]>([
    ['no executions', { lookbackExecutions: 0 }, 'lookbackExecutions', 'invalid_value'],
    ['a negative number', { lookbackExecutions: -1 }, 'lookbackExecutions', 'invalid_value'],
    ['101 executions', { lookbackExecutions: 101 }, 'lookbackExecutions', 'invalid_value'],
    ['one and a half', { lookbackExecutions: 1.5 }, 'lookbackExecutions', 'invalid_value'],
    ['a number as text', { lookbackExecutions: '20' }, 'lookbackExecutions', 'invalid_type'],
    ['null', { lookbackExecutions: null }, 'lookbackExecutions', 'invalid_type'],
    ['an empty focus', { focusArea: '' }, 'focusArea', 'invalid_value'],
    ['a blank focus', { focusArea: ' \n\u3000' }, 'focusArea', 'invalid_value'],
    ['a focus of 1,001 characters', { focusArea: 'x'.repeat(1_001) }, 'focusArea', 'invalid_value'],
    ['a focus that is not a string', { focusArea: ['x'] }, 'focusArea', 'invalid_type'],
    ['a lone surrogate', '{"focusArea":"a\\ud800"}', 'focusArea', 'invalid_value'],
    ['an unknown field', { systemPrompt: 'Mine.' }, 'systemPrompt', 'unknown_field'],
    ['a body that is not an object', [], '', 'invalid_type'],
  ])('with 400 validation_failed for %s', async (_, body, path, code) => {
    const { details } = await refused(() => unchanged.improve(body), 400, 'validation_failed');
    expect(details).toMatchObject([{ path, code }]);
  });

  it('with 400 validation_failed for two errors in one response, and for a query parameter', async () => {
    const body = { lookbackExecutions: 0, focusArea: '' };
    expect((await refused(() => unchanged.improve(body), 400, 'validation_failed')).details).toHaveLength(2);
    await refused(() => unchanged.improve({}, { query: 'dry=1' }), 400, 'validation_failed');
  });

  it.each(['absent-agent', 'No Name'])('with 404 not_found for the agent %s', async (name) => {
    await refused(() => unchanged.improve({}, { name }), 404, 'not_found');
  });

  it('with 404 not_found for the agent of another organization', async () => {
    const others = await newImprovementsApi();
    await others.agents.put({ name: 'editor' });
    await refused(() => unchanged.improve({}, { name: 'editor' }), 404, 'not_found');
  });

  it('with 401 unauthorized without a token', async () => {
    await refused(() => unchanged.improve({}, { token: '' }), 401, 'unauthorized');
  });

  it('with 403 insufficient_scope for a token with all scopes except agents:execute', async () => {
    const scopes = ['agents:read', 'agents:write', 'tasks:read', 'tasks:write', 'webhooks:write'] as const;
    const manager = await newImprovementsApi(scopes);
    const { message } = await manager.refuses(() => manager.improve(), 403, 'insufficient_scope');
    expect(message).toContain('agents:execute');
  });
});

it('a pass requires only the scope agents:execute', async () => {
  const runner = await newImprovementsApi(['agents:execute']);
  expect((await runner.improve({}, { name: 'qa-reviewer' })).status).toBe(200);
});

it('a request whose model never answers ends within its time limit, with the reason', async () => {
  const { clock, pause, until } = createTimeline(Date.now());
  const context = processContext();
  const inRealTime = { ...context };
  Object.assign(context, { clock, pause });
  const reached = Promise.withResolvers<void>();
  bedrock.answer = () => reached.resolve();
  const begun = clock();
  const answering = unchanged.improve();
  await reached.promise;
  await until(begun + 9_000);
  const answer = await answering;
  Object.assign(context, inRealTime);
  expect([answer.status, clock() - begun]).toEqual([200, 9_000]);
  expect(improvementOf(answer)).toEqual({
    improved: false,
    changesSummary: 'No edit was proposed. There was no time left.',
    previousPromptHash: sha256('Write.'),
    newPromptHash: sha256('Write.'),
  });
});
