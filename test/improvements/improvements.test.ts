import { describe, expect, it } from 'vitest';
import { assignSkill, deleteAgent } from '../../lib/agents/agents.ts';
import { ulidOf } from '../../lib/contract/ids.ts';
import { runWithRequest } from '../../lib/request-context.ts';
import { hashOf } from '../../lib/table/agents/agent-items.ts';
import { readAgent } from '../../lib/table/agents/agents.ts';
import { leaseImprovement } from '../../lib/table/agents/improvements.ts';
import { readPreparedAgent } from '../../lib/table/agents/prepared-agents.ts';
import { purgeAgent } from '../../lib/table/purges/purges.ts';
import { watchedTable } from '../table/fixtures/watched-table.ts';
import { always, errorOf } from '../table/tasks/test-table.ts';
import { additions, proposes } from './learning-model.ts';
import { createTestImprovements, meanwhile } from './test-improvements.ts';

const service = await createTestImprovements();
const { organization, clock, app, table } = service;
const better = `Write.\n\n${additions.better}`;
const idle = { says: { proposal: proposes(additions.idle) } };
const [previousPromptHash, newPromptHash] = [hashOf('Write.'), hashOf(better)];
const adopted = { improved: true, changesSummary: 'It asks for more.', previousPromptHash, newPromptHash };
const kept = (changesSummary: string) => ({
  ...adopted,
  improved: false,
  changesSummary,
  newPromptHash: previousPromptHash,
});

describe('a better prompt', () => {
  it('becomes the prompt of the agent in a new version, and nothing else of the agent changes', async () => {
    const name = await service.createReviewedAgent();
    await assignSkill(app, organization, name, 'sk_a', [{ id: 'sk_a', name: 'a', description: 'A.' }], undefined);
    const before = await readPreparedAgent(service.app, organization, name);
    clock.now += 1_000;
    const { answer } = await service.improve(name);
    expect(answer).toEqual(adopted);
    const changed = { systemPrompt: better, version: 3, updatedAt: new Date(clock()).toISOString() };
    expect(await readPreparedAgent(service.app, organization, name)).toEqual({
      skills: before?.skills,
      agent: { ...before?.agent, ...changed },
    });
  });

  it.each(['inactive', 'draft'] as const)('of an agent that is %s is adopted', async (status) => {
    const name = await service.createReviewedAgent();
    await service.update(name, { status });
    expect((await service.improve(name)).answer).toEqual(adopted);
    expect((await service.agent(name)).status).toBe(status);
  });
});

it('a prompt that is not better changes nothing', async () => {
  const name = await service.createReviewedAgent();
  const before = await service.dump();
  const { answer } = await service.improve(name, idle);
  expect(answer).toEqual(kept('The proposal was not seen to do better: It asks for more.'));
  expect(await service.dump()).toEqual(before);
});

it('a pass without ended executions asks no model', async () => {
  await service.create('novice');
  const { answer, asked } = await service.improve('novice');
  expect([answer, asked]).toEqual([kept('There is nothing to learn from: no execution has finished yet.'), []]);
});

it('a pass reviews only as many executions as the request says', async () => {
  const name = await service.createReviewedAgent();
  for (let more = 0; more < 2; more++) await service.runToFailedReview(name);
  const { asked } = await service.improve(name, { body: { lookbackExecutions: 2 } });
  expect(asked[0]?.user.match(/^- completed/gm)).toHaveLength(2);
});

it('every prompt of an agent is stored under its hash, with its time, its reason and its token', async () => {
  const by = <Done>(tokenId: string, act: () => Promise<Done>) => {
    clock.now += 1_000;
    return runWithRequest({ tokenId }, act);
  };
  const name = 'long-lived';
  await by('one', () => service.create(name));
  await service.runToFailedReview(name);
  const patch = (systemPrompt: string, more = {}) => by('two', () => service.update(name, { systemPrompt, ...more }));
  const created = clock();
  await by('three', () => service.improve(name));
  await patch('Read.');
  await patch('Write.', { soul: 'Brisk.' });
  await by('three', () => service.improve(name, idle));
  await by('three', () => service.improve(name));
  await patch('');
  await by('two', () => service.update(name, { soul: 'Calm.' }));
  await patch('', { displayName: 'Another' });
  await patch('Read.');
  await by('two', () => service.update(name, { soul: 'Read.' }));
  const prompts = await service.promptsOf(await service.agent(name));
  expect(
    prompts.map(({ prompt, why, by, summary, at }) => [prompt, why, by, summary, Date.parse(at) - created]),
  ).toEqual([
    ['Write.', 'created', 'one', undefined, 0],
    [better, 'self-improved', 'three', 'It asks for more.', 1_000],
    ['Read.', 'changed', 'two', undefined, 2_000],
    ['Write.', 'changed', 'two', undefined, 3_000],
    [better, 'self-improved', 'three', 'It asks for more.', 5_000],
    ['', 'changed', 'two', undefined, 6_000],
    ['Read.', 'changed', 'two', undefined, 9_000],
  ]);
  for (const { prompt = '?', promptHash } of prompts) expect(hashOf(prompt)).toBe(promptHash);
  // The first prompt of a system agent is recorded without a request.
  const reviewer = await service.agent('qa-reviewer');
  const [first] = await service.promptsOf(reviewer);
  expect(first).toMatchObject({ why: 'created', prompt: reviewer.systemPrompt });
  expect(first).not.toHaveProperty('by');
});

describe('during a pass', () => {
  const changed = kept('The prompt was changed meanwhile; that change stands.');

  it('a change of the prompt stays, and the response says so', async () => {
    const name = await service.createReviewedAgent();
    const says = meanwhile(() => service.update(name, { systemPrompt: 'Mine.' }));
    expect((await service.improve(name, { says })).answer).toEqual(changed);
    const agent = await service.agent(name);
    expect([agent.systemPrompt, agent.version]).toEqual(['Mine.', 2]);
    expect((await service.promptsOf(agent)).map(({ why }) => why)).toEqual(['created', 'changed']);
    expect(await service.isLocked(agent)).toBe(false);
  });

  it('a change of other fields stays, and the prompt is adopted', async () => {
    const name = await service.createReviewedAgent();
    const patch = { displayName: 'Mine', soul: 'Mine.', model: 'mine', status: 'draft' as const, capabilities: ['x'] };
    const { answer } = await service.improve(name, { says: meanwhile(() => service.update(name, patch)) });
    expect(answer).toEqual(adopted);
    expect(await service.agent(name)).toMatchObject({ ...patch, systemPrompt: better, version: 3 });
  });

  it.each([
    ['deleted', false],
    ['deleted and created again with the same prompt', true],
  ])('an agent can be %s: the pass does not change it, and the response says so', async (_, again) => {
    const name = await service.createReviewedAgent();
    const { id } = await service.agent(name);
    const replace = async () => {
      await deleteAgent(app, organization, name, always);
      if (again) await service.create(name);
    };
    const { answer } = await service.improve(name, { says: meanwhile(replace) });
    expect(answer).toEqual(kept('The agent was deleted meanwhile.'));
    const agent = await readAgent(service.app, organization, name);
    expect([agent?.systemPrompt, agent?.version]).toEqual(again ? ['Write.', 1] : [undefined, undefined]);
    expect(await service.isLocked({ id })).toBe(false);
  });
});

describe('just before the write of the new prompt', () => {
  /** Returns a table that calls a function before each of the first `most` tries to adopt a prompt. */
  function beforeAdoption(happens: (nth: number) => Promise<unknown>, most = 1) {
    let times = 0;
    const { table: through } = watchedTable(table, async ({ writes, names }) => {
      if (writes && names('self-improved') && times < most) await happens(times++);
    });
    return { through, times: () => times };
  }

  it('a change of the prompt stays', async () => {
    const name = await service.createReviewedAgent();
    const { through } = beforeAdoption(() => service.update(name, { systemPrompt: 'Mine.' }));
    expect((await service.improve(name, { through })).answer).toEqual(
      kept('The prompt was changed meanwhile; that change stands.'),
    );
    expect((await service.agent(name)).systemPrompt).toBe('Mine.');
  });

  it('four changes of another field stay, and the prompt is adopted', async () => {
    const name = await service.createReviewedAgent();
    const { through, times } = beforeAdoption((nth) => service.update(name, { displayName: `Mine ${nth}` }), 4);
    expect([(await service.improve(name, { through })).answer, times()]).toEqual([adopted, 4]);
    expect(await service.agent(name)).toMatchObject({ displayName: 'Mine 3', systemPrompt: better, version: 6 });
  });

  it('the fifth change of another field ends the pass without a change, and the response says so', async () => {
    const name = await service.createReviewedAgent();
    const { through, times } = beforeAdoption((nth) => service.update(name, { displayName: `Mine ${nth}` }), 99);
    expect((await service.improve(name, { through })).answer).toEqual(
      kept('The agent was changed again and again, so the proposal could not be written; ask again.'),
    );
    expect(times()).toBe(5);
    expect(await service.agent(name)).toMatchObject({ systemPrompt: 'Write.', displayName: 'Mine 4', version: 6 });
  });
});

it('a purge of an agent deletes its prompts, their changes and the lease of a pass that did not end', async () => {
  const name = await service.createReviewedAgent();
  await service.improve(name);
  const { id } = await service.agent(name);
  await leaseImprovement(service, organization, id);
  await deleteAgent(app, organization, name, always);
  const hasItems = async () => JSON.stringify(await service.dump()).includes(ulidOf(id));
  expect(await hasItems()).toBe(true);
  await purgeAgent({ table }, { organization, agentId: id }, () => undefined as never);
  expect(await hasItems()).toBe(false);
  expect(await errorOf(service.improve(name))).toMatchObject({ status: 404, code: 'not_found' });
});
