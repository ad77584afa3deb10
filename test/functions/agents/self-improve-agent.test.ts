import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { ImprovementPass } from '../../../lib/contract/agents/improvements.ts';
import { readPromptChanges } from '../../../lib/table/agents/prompts.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { createTimeline } from '../../executions/timeline.ts';
import { additions, proposes, usual } from '../../improvements/learning-model.ts';
import { agentOf } from './test-agents.ts';
import { createTestImprovements, type ImprovementsApi, improvementOf } from './test-improvements.ts';

const { service, bedrock, newImprovementsApi, teach } = await createTestImprovements();
let api: ImprovementsApi;
let asked: ReturnType<typeof teach>;
beforeEach(async () => {
  asked = teach();
  api = await newImprovementsApi();
});

const sha256 = (text: string) => `sha256:${createHash('sha256').update(Buffer.from(text, 'utf8')).digest('hex')}`;
const better = (prompt: string) => `${prompt}\n\n${additions.better}`;
const writer = async () => agentOf(await api.agents.get('writer'));

describe('a pass of self-improvement', () => {
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

  it.each(['Schreib schön. 🖋️', ''])('hashes the UTF-8 bytes of the prompt %j', async (systemPrompt) => {
    await api.agents.update('writer', { systemPrompt });
    teach({ proposal: proposes(additions.idle) });
    const hash = sha256(systemPrompt);
    const kept = { improved: false, previousPromptHash: hash, newPromptHash: hash };
    expect(improvementOf(await api.improve())).toMatchObject(kept);
  });

  it('uses 20 executions and no focus without a body', async () => {
    await Promise.all(Array.from({ length: 20 }, () => api.start()));
    const { changesSummary } = improvementOf(await api.improve());
    expect(changesSummary).toBe('There is nothing to learn from: no execution has finished yet.');
    expect(improvementOf(await api.improve({ lookbackExecutions: 21 })).improved).toBe(true);
    expect(asked[0]?.user).not.toContain('<focus>');
  });

  it('passes its focus to the model', async () => {
    const focusArea = '😀'.repeat(1_000);
    expect((await api.improve({ focusArea })).status).toBe(200);
    expect(asked[0]?.user).toContain(`<focus>\n${focusArea}\n</focus>`);
  });

  it('is in the list of passes, whose hashes name prompts of the agent', async () => {
    const result = improvementOf(await api.improve());
    const params = { name: 'writer' };
    const passes = await api.agents.listImprovements({ params, query: 'limit=1' });
    expect([passes.status, paginationOf(passes)]).toEqual([200, { limit: 1, offset: 0, total: 1 }]);
    const [pass] = dataOf<ImprovementPass[]>(passes) as [ImprovementPass];
    expect(pass).toMatchObject({ ...result, decision: 'adopted', votes: { new: 40 }, tokensUsed: 61 });
    expect(Object.keys(pass)).toEqual(Object.keys(ImprovementPass.entries));
    for (const [hash, prompt] of [
      [pass.previousPromptHash, 'Write.'],
      [pass.newPromptHash, better('Write.')],
    ] as const)
      expect(dataOf(await api.agents.getPrompt({ params: { ...params, hash } }))).toMatchObject({
        systemPrompt: prompt,
      });
  });

  it('records the token that changed the prompt', async () => {
    await api.improve();
    const [change] = await readPromptChanges(service, api.organization, (await writer()).id);
    const promptHash = sha256(better('Write.'));
    expect(change).toMatchObject({ why: 'self-improved', summary: 'It asks for more.', promptHash });
    expect(api.token).toContain(change?.by);
  });

  it('that is rejected asks no model and leaves its Idempotency-Key free', async () => {
    const [reached, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    teach({
      proposal: async (question) => {
        reached.resolve();
        await answered.promise;
        return usual.proposal(question);
      },
    });
    const first = api.improve();
    await reached.promise;
    const calls = bedrock.received.length;
    const second = () => api.improve({}, { headers: { 'Idempotency-Key': 'key' } });
    await api.refuses(second, 409, 'improvement_in_progress');
    expect(bedrock.received.length).toBe(calls);
    answered.resolve();
    expect(improvementOf(await first).improved).toBe(true);
    const answer = await second();
    expect([answer.status, answer.headers['Idempotency-Replayed']]).toEqual([200, undefined]);
  });
});

it('a request whose model never answers ends within its time limit, with the reason', async () => {
  const { clock, pause, until } = createTimeline(Date.now());
  const context = processContext();
  const inRealTime = { ...context };
  Object.assign(context, { clock, pause });
  const reached = Promise.withResolvers<void>();
  bedrock.answer = () => reached.resolve();
  const begun = clock();
  const answering = api.improve();
  await reached.promise;
  await until(begun + 9_000);
  const answer = await answering;
  Object.assign(context, inRealTime);
  expect([answer.status, clock() - begun]).toEqual([200, 9_000]);
  expect(improvementOf(answer)).toMatchObject({
    improved: false,
    changesSummary: 'No edit was proposed. There was no time left.',
    newPromptHash: sha256('Write.'),
  });
});
