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
import { always, errorOf } from '../table/tasks/board.ts';
import { additions, proposes } from './learning-model.ts';
import { createTestImprovements, meanwhile } from './test-improvements.ts';

const service = await createTestImprovements();
const { organization, clock, app, table } = service;
const better = `Write.\n\n${additions.better}`;
const idle = { says: { proposal: proposes(additions.idle) } };
const kept = (changesSummary: string) => ({
  improved: false,
  changesSummary,
  previousPromptHash: hashOf('Write.'),
  newPromptHash: hashOf('Write.'),
});
const adopted = {
  improved: true,
  changesSummary: 'It asks for more.',
  previousPromptHash: hashOf('Write.'),
  newPromptHash: hashOf(better),
};

describe('a better prompt', () => {
  it('becomes that of the agent, as another version of it, and nothing else of it changes', async () => {
    const name = await service.createReviewedAgent();
    const shown = [{ id: 'sk_a', name: 'a', description: 'A.' }];
    await assignSkill(app, organization, name, 'sk_a', shown, undefined);
    const before = await readPreparedAgent(service.app, organization, name);
    clock.now += 1_000;
    const { answer } = await service.improve(name);
    expect(answer).toEqual(adopted);
    expect(await readPreparedAgent(service.app, organization, name)).toEqual({
      skills: before?.skills,
      agent: {
        ...before?.agent,
        systemPrompt: better,
        version: (before?.agent.version ?? 0) + 1,
        updatedAt: new Date(clock()).toISOString(),
      },
    });
  });

  it('is what the agent learns from there on', async () => {
    const name = await service.createReviewedAgent();
    await service.improve(name);
    const { answer } = await service.improve(name, {
      says: {
        proposal: proposes('Cite it.'),
        run: ({ system }) => ({
          kind: 'text',
          tokens: 0,
          text: system.includes('Cite') ? 'See chapter 2.' : 'It is so.',
        }),
      },
    });
    expect([answer.previousPromptHash, answer.newPromptHash]).toEqual([
      hashOf(better),
      hashOf(`${better}\n\nCite it.`),
    ]);
  });

  it('of an agent in any status is adopted', async () => {
    for (const status of ['inactive', 'draft'] as const) {
      const name = await service.createReviewedAgent();
      await service.update(name, { status });
      expect((await service.improve(name)).answer).toEqual(adopted);
      expect((await service.agent(name)).status).toBe(status);
    }
  });
});

describe('a prompt that is not better', () => {
  it('changes nothing at all', async () => {
    const name = await service.createReviewedAgent();
    const before = await service.dump();
    expect((await service.improve(name, idle)).answer).toEqual(
      kept('The proposal was not seen to do better: It asks for more.'),
    );
    expect(await service.dump()).toEqual(before);
  });

  it('is not even proposed where no execution has finished', async () => {
    await service.create('novice');
    const { answer, asked } = await service.improve('novice');
    expect([answer, asked]).toEqual([kept('There is nothing to learn from: no execution has finished yet.'), []]);
  });

  it('is looked for in no more executions than were asked for', async () => {
    const name = await service.createReviewedAgent();
    for (let more = 0; more < 2; more++) await service.runToFailedReview(name);
    const { asked } = await service.improve(name, { body: { lookbackExecutions: 2 } });
    expect(asked[0]?.user.match(/^- completed/gm)).toHaveLength(2);
  });

  it('is looked for with what the caller wants to be looked at', async () => {
    const { asked } = await service.improve(await service.createReviewedAgent(), { body: { focusArea: 'THE-FOCUS' } });
    expect(asked.map(({ user }) => user.includes('<focus>\nTHE-FOCUS\n</focus>'))).toEqual([
      true,
      ...Array(8 - 2 * 2).fill(false),
    ]);
  });
});

it('every prompt that an agent has had is under its hash, with when, why and by whom', async () => {
  const by = <Done>(tokenId: string, act: () => Promise<Done>) => {
    clock.now += 1_000;
    return runWithRequest({ tokenId }, act);
  };
  const name = 'long-lived';
  await by('one', () => service.create(name));
  await service.runToFailedReview(name);
  const patch = (systemPrompt: string, more = {}) => by('two', () => service.update(name, { systemPrompt, ...more }));
  const opened = clock();
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
  const had = await service.promptsOf(await service.agent(name));
  expect(had.map(({ prompt, why, by, summary, at }) => [prompt, why, by, summary, Date.parse(at) - opened])).toEqual([
    ['Write.', 'created', 'one', undefined, 0],
    [better, 'self-improved', 'three', 'It asks for more.', 1_000],
    ['Read.', 'changed', 'two', undefined, 2_000],
    ['Write.', 'changed', 'two', undefined, 3_000],
    [better, 'self-improved', 'three', 'It asks for more.', 5_000],
    ['', 'changed', 'two', undefined, 6_000],
    ['Read.', 'changed', 'two', undefined, 9_000],
  ]);
  for (const { prompt = '?', promptHash } of had) expect(hashOf(prompt)).toBe(promptHash);
  // The first prompt of a system agent is recorded without a request.
  const [first] = await service.promptsOf(await service.agent('qa-reviewer'));
  expect(first).toMatchObject({ why: 'created', prompt: (await service.agent('qa-reviewer')).systemPrompt });
  expect(first).not.toHaveProperty('by');
});

describe('meanwhile', () => {
  const changed = kept('The prompt was changed meanwhile; that change stands.');

  it('a change of the prompt wins, and the pass says so', async () => {
    const name = await service.createReviewedAgent();
    const { answer } = await service.improve(name, {
      says: meanwhile(() => service.update(name, { systemPrompt: 'Mine.' })),
    });
    expect(answer).toEqual(changed);
    const agent = await service.agent(name);
    expect([agent.systemPrompt, agent.version]).toEqual(['Mine.', 2]);
    expect((await service.promptsOf(agent)).map(({ why }) => why)).toEqual(['created', 'changed']);
    expect(await service.isLocked(agent)).toBe(false);
  });

  it('a change of anything else is kept, and the pass adopts all the same', async () => {
    const name = await service.createReviewedAgent();
    const fields = {
      displayName: 'Mine',
      soul: 'Mine.',
      model: 'mine',
      status: 'draft',
      capabilities: ['mine'],
    } as const;
    const patch = { ...fields, capabilities: [...fields.capabilities] };
    const { answer } = await service.improve(name, { says: meanwhile(() => service.update(name, patch)) });
    expect(answer).toEqual(adopted);
    expect(await service.agent(name)).toMatchObject({ ...patch, systemPrompt: better, version: 3 });
  });

  it('a deletion wins: nothing of the agent comes back, and the pass says so', async () => {
    const name = await service.createReviewedAgent();
    const { id } = await service.agent(name);
    const { answer } = await service.improve(name, {
      says: meanwhile(() => deleteAgent(app, organization, name, always)),
    });
    expect(answer).toEqual(kept('The agent was deleted meanwhile.'));
    expect(await readAgent(service.app, organization, name)).toBeUndefined();
    expect(await service.isLocked({ id })).toBe(false);
  });

  it('a namesake with the same prompt is left alone', async () => {
    const name = await service.createReviewedAgent();
    const replace = async () => {
      await deleteAgent(app, organization, name, always);
      await service.create(name);
    };
    expect((await service.improve(name, { says: meanwhile(replace) })).answer).toEqual(
      kept('The agent was deleted meanwhile.'),
    );
    expect(await service.agent(name)).toMatchObject({ systemPrompt: 'Write.', version: 1 });
  });

  /** A table on which something happens just before each try to adopt, at most so often. */
  function justBefore(happens: (nth: number) => Promise<unknown>, most = 1) {
    let times = 0;
    const { table: through } = watchedTable(table, async ({ writes, names }) => {
      if (writes && names('self-improved') && times < most) await happens(times++);
    });
    return { through, times: () => times };
  }

  it('at the very last moment, too, a change of the prompt wins, and any other is kept', async () => {
    const [one, other] = [await service.createReviewedAgent(), await service.createReviewedAgent()];
    const { through } = justBefore(() => service.update(one, { systemPrompt: 'Mine.' }));
    expect((await service.improve(one, { through })).answer).toEqual(changed);
    expect((await service.agent(one)).systemPrompt).toBe('Mine.');
    const { through: also, times } = justBefore((nth) => service.update(other, { displayName: `Mine ${nth}` }), 4);
    expect([(await service.improve(other, { through: also })).answer, times()]).toEqual([adopted, 4]);
    expect(await service.agent(other)).toMatchObject({ displayName: 'Mine 3', systemPrompt: better, version: 6 });
  });

  it('an agent that is changed again and again keeps its prompt, and the pass says so', async () => {
    const name = await service.createReviewedAgent();
    const { through, times } = justBefore((nth) => service.update(name, { displayName: `Mine ${nth}` }), 99);
    const { answer } = await service.improve(name, { through });
    expect(answer).toEqual(
      kept('The agent was changed again and again, so the proposal could not be written; ask again.'),
    );
    expect(times()).toBe(5);
    expect(await service.agent(name)).toMatchObject({ systemPrompt: 'Write.', displayName: 'Mine 4', version: 6 });
  });
});

describe('a purge of the agent', () => {
  it('takes its prompts, what is known of them, and and the lease of a pass that did not end', async () => {
    const name = await service.createReviewedAgent();
    await service.improve(name);
    const { id } = await service.agent(name);
    await leaseImprovement(service, organization, id);
    await deleteAgent(app, organization, name, always);
    const left = async () => JSON.stringify(await service.dump()).includes(ulidOf(id));
    expect(await left()).toBe(true);
    await purgeAgent({ table }, { organization, agentId: id }, () => undefined as never);
    expect(await left()).toBe(false);
    expect(await errorOf(service.improve(name))).toMatchObject({ status: 404, code: 'not_found' });
  });
});
