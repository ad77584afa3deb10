import { describe, expect, it } from 'vitest';
import { deleteAgent } from '../../lib/agents/agents.ts';
import type { ImprovementPass } from '../../lib/contract/agents/improvements.ts';
import { listImprovements } from '../../lib/improvements/improvement-list.ts';
import type { ModelAnswer, Question } from '../../lib/model/converse.ts';
import { hashOf } from '../../lib/table/agents/agent-items.ts';
import { idempotencyRecordWrites, readIdempotencyRecord } from '../../lib/table/idempotency.ts';
import { text } from '../executions/test-executions.ts';
import { always, errorOf } from '../table/tasks/test-table.ts';
import { additions, proposes, type Script } from './learning-model.ts';
import { createTestImprovements, meanwhile } from './test-improvements.ts';

const service = await createTestImprovements();
const { organization, clock, app } = service;
const better = `Write.\n\n${additions.better}`;

const list = (name: string, page = { limit: 20, offset: 0 }) => listImprovements(app, organization, name, page);

/** Runs a pass of a new agent, and returns the pass in its list. */
async function passOf(says: Script, name?: string): Promise<ImprovementPass> {
  const agent = name ?? (await service.createReviewedAgent());
  await service.improve(agent, { says });
  const { items, total } = await list(agent);
  expect(total).toBe(1);
  return items[0] as ImprovementPass;
}

const [previousPromptHash, newPromptHash] = [hashOf('Write.'), hashOf(better)];
const refused: ModelAnswer = { kind: 'failed', error: 'The model refused to do this.', tokens: 3 };

it('an adopted edit has its proposal, both answers to each input, the votes, the hashes, the tokens and the times', async () => {
  const name = await service.createReviewedAgent();
  const startedAt = new Date(clock()).toISOString();
  const proposal = () => {
    clock.now += 5_000;
    return { ...proposes(additions.better), tokens: 9 };
  };
  const { trials, ...pass } = await passOf({ proposal }, name);
  expect(pass).toEqual({
    ...{ id: expect.stringMatching(/^im_[0-9A-Z]{26}$/), decision: 'adopted', improved: true },
    ...{ changesSummary: 'It asks for more.', previousPromptHash, newPromptHash },
    ...{ tokensUsed: 9, startedAt, durationMs: 5_000 },
    proposal: { summary: 'It asks for more.', append: additions.better },
    votes: { new: 40, previous: 0, none: 0 },
    chance: 1 / 1024,
  });
  const trial = { input: 'Do it.', previousAnswer: 'It is so.', newAnswer: 'It is so: see chapter 2.' };
  const expected = {
    ...trial,
    heldOut: false,
    votes: Array(4).fill('new'),
    executionId: expect.stringMatching(/^ex_/),
  };
  expect(trials).toEqual(Array(10).fill(expected));
});

describe('the decision of a pass', () => {
  it.each<[ImprovementPass['decision'], string, Script, Partial<ImprovementPass>]>([
    [
      'no_proposal',
      'No edit was proposed',
      { proposal: text('{"summary":"Fine."}') },
      { proposal: { summary: 'Fine.' } },
    ],
    ['no_proposal', 'No edit was proposed. The model refused', { proposal: refused }, { tokensUsed: 3, trials: [] }],
    ['no_proposal', 'The answer of the prompt improver', { proposal: text('Be brief!') }, { trials: [] }],
    ['not_usable', 'The proposal could not be used', { proposal: proposes(' ') }, { trials: [] }],
    ['not_tried', 'The proposal could not be tried', { run: refused }, { tokensUsed: 60 }],
    ['not_judged', 'The proposal could not be judged', { choice: refused }, { tokensUsed: 120 }],
    ['worse', 'The proposal was seen to do worse', { proposal: proposes(additions.worse) }, { chance: 1 }],
    ['not_better', 'The proposal was not seen to do better', { proposal: proposes(additions.idle) }, {}],
  ])('%s has the reason "%s"', async (decision, reason, says, fields) => {
    const pass = await passOf(says);
    expect(pass).toMatchObject({ decision, improved: false, ...fields, newPromptHash: previousPromptHash });
    expect(pass.changesSummary).toContain(reason);
  });

  it('superseded has the votes for the edit that was not adopted', async () => {
    const name = await service.createReviewedAgent();
    const pass = await passOf(
      meanwhile(() => service.update(name, { systemPrompt: 'Mine.' })),
      name,
    );
    expect(pass).toMatchObject({ decision: 'superseded', improved: false, votes: { new: 40 }, chance: 1 / 1024 });
  });

  it('has the error of each prompt that gave no answer', async () => {
    const run = ({ system }: Question) => (system.includes(additions.better) ? refused : text('It is so.'));
    const { decision, trials } = await passOf({ run });
    expect([decision, trials[0]]).toMatchObject(['worse', { previousAnswer: 'It is so.', newError: refused.error }]);
    expect(trials[0]).not.toHaveProperty('newAnswer');
  });
});

it('passes are listed newest first, with an exact total, and those that asked no model are left out', async () => {
  const name = await service.createReviewedAgent();
  for (const summary of ['First.', 'Second.', 'Third.']) {
    await service.improve(name, { says: { proposal: proposes(additions.idle, summary) } });
    clock.now += 1_000;
  }
  await service.update('prompt-improver', { status: 'inactive' });
  await service.improve(name);
  await service.update('prompt-improver', { status: 'active' });
  const summaries = ({ items, total }: Awaited<ReturnType<typeof list>>) => [
    items.map(({ proposal }) => proposal?.summary),
    total,
  ];
  expect(summaries(await list(name))).toEqual([['Third.', 'Second.', 'First.'], 3]);
  expect(summaries(await list(name, { limit: 1, offset: 1 }))).toEqual([['Second.'], 3]);
  expect(await list(name, { limit: 20, offset: 3 })).toEqual({ items: [], total: 3 });
});

it('the longest texts are stored with their first 2,000 characters', async () => {
  const name = await service.createReviewedAgent();
  // The characters with the most bytes as JSON.
  const longest = '\u0001'.repeat(100_000);
  await service.update(name, { systemPrompt: longest.slice(0, 50_000) });
  const summary = '\u0001'.repeat(500);
  const pass = await passOf(
    {
      proposal: text(
        JSON.stringify({ summary: `${summary}!`, replace: longest.slice(0, 50_000), with: 'Name your source.' }),
      ),
      run: ({ system }) => text(`${longest}${system.length}`),
    },
    name,
  );
  expect(pass.proposal).toMatchObject({ replace: longest.slice(0, 2_000), truncated: true });
  for (const trial of pass.trials)
    expect(trial).toMatchObject({ newAnswer: longest.slice(0, 2_000), input: 'Do it.', truncated: true });
});

it('a pass of an agent that was deleted meanwhile is not stored, and its response is recorded', async () => {
  const name = await service.createReviewedAgent();
  const request = { key: 'deleted', operation: 'o', path: '/', body: {} };
  const once = (answer: unknown) => idempotencyRecordWrites(app, organization, request, { data: answer });
  const { id } = await service.agent(name);
  const says = {
    ...meanwhile(() => deleteAgent(app, organization, name, always)),
    proposal: proposes(additions.worse),
  };
  const { answer } = await service.improve(name, { says, once });
  expect(answer.improved).toBe(false);
  expect(await readIdempotencyRecord(app, organization, request)).toEqual({ data: answer });
  expect(Object.keys(await service.dump()).filter((key) => key.includes(`#AI#${id.slice(3)}`))).toEqual([]);
  expect((await errorOf(list(name)))?.code).toBe('not_found');
});
