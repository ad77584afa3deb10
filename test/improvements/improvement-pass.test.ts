import { describe, expect, it } from 'vitest';
import type { Question } from '../../lib/model/converse.ts';
import { text } from '../executions/test-executions.ts';
import { additions, judges, proposes, type Says } from './learning-model.ts';
import { as, finished, improver, learner, reviewer, runTestPass } from './run-test-pass.ts';

const clean = { qaReview: 'passed' } as const;
const adopted = { prompt: `Write.\n\n${additions.better}`, summary: 'It asks for more.' };

describe('a pass', () => {
  it('returns a better prompt where it is judged better, by one question, four runs and four choices', async () => {
    const { result, times, tookMs, waiting } = await runTestPass();
    expect(result).toEqual(adopted);
    expect([times(), tookMs, waiting]).toEqual([[1, 4, 4], 0, 0]);
  });

  it('asks each the model that it has, under the prompt that it has', async () => {
    const { asked } = await runTestPass({
      improver: as(improver, { soul: 'Bold.' }),
      reviewer: as(reviewer, { model: 'r' }),
    });
    const of = (step: string) =>
      [...new Set(asked.filter((one) => one.step === step).map(({ model, system }) => `${model}: ${system}`))].sort();
    expect(of('proposal')).toEqual([`system.model: Bold.\n\n${improver.agent.systemPrompt}`]);
    expect(of('run')).toEqual([
      'writer.model: Calm.\n\nWrite.',
      `writer.model: Calm.\n\nWrite.\n\n${additions.better}`,
    ]);
    expect(of('choice')).toEqual([`r: ${reviewer.agent.systemPrompt}`]);
  });

  it('says what others wrote in the user’s message only, and shows the choice in both orders', async () => {
    const prepared = as(learner, { systemPrompt: 'THE-PROMPT' });
    const input = { input: 'THE-INPUT', context: { key: 'THE-CONTEXT' } };
    const { asked } = await runTestPass({ prepared, focusArea: 'THE-FOCUS', readInput: async () => input });
    for (const { step, system, user } of asked) {
      expect(system).not.toMatch(/THE-(INPUT|CONTEXT|FOCUS)/);
      expect(system.includes('THE-PROMPT')).toBe(step === 'run');
      expect(user.includes('THE-PROMPT')).toBe(step === 'proposal');
      expect(user.includes('THE-FOCUS')).toBe(step === 'proposal');
      expect(user).toContain('THE-INPUT');
      expect(user.includes('THE-CONTEXT')).toBe(step !== 'proposal');
    }
    const [one, other] = asked
      .filter(({ step }) => step === 'choice')
      .map(({ user }) => user.indexOf('chapter') < user.indexOf('It is so.'));
    expect(other).toBe(!one);
  });

  it('tries what went wrong before what went well, the newest first', async () => {
    const executions = [finished('good', clean), finished('late'), finished('early'), finished('first')];
    const { asked } = await runTestPass({ executions });
    const tried = asked.filter(({ step }) => step === 'run').map(({ user }) => user);
    expect([...new Set(tried)]).toEqual(['<input>\nQuestion late?\n</input>', '<input>\nQuestion early?\n</input>']);
    const { user } = asked[0] as Question;
    expect(user.match(/input: .*/g)).toEqual(['good', 'late', 'early', 'first'].map((id) => `input: Question ${id}?`));
  });

  it('shows of a hundred executions five with what they were asked', async () => {
    const { asked } = await runTestPass({ executions: Array.from({ length: 100 }, (_, nth) => finished(`${nth}`)) });
    const { user } = asked[0] as Question;
    expect([user.match(/^- completed/gm)?.length, user.match(/input: /g)?.length]).toEqual([100, 5]);
  });

  it('tries one input where there is one, or the other is gone', async () => {
    expect((await runTestPass({ executions: [finished('a')] })).times()).toEqual([1, 2, 2]);
    const readInput = async ({ id }: { id: string }) => (id === 'a' ? undefined : { input: 'There.' });
    const { result, times } = await runTestPass({ readInput });
    expect([result, times()]).toEqual([adopted, [1, 2, 2]]);
  });
});

describe('a pass asks no model', () => {
  const nothing = 'There is nothing to learn: the last 2 executions show no fault of the prompt.';
  const well = [finished('a', clean), finished('b', clean)];
  const lost = finished('c', { ...clean, status: 'failed', error: 'lost', durationMs: 90_000 });

  it.each<[string, Parameters<typeof runTestPass>[0], string]>([
    ['nothing has finished', { executions: [] }, 'There is nothing to learn from: no execution has finished yet.'],
    [
      'all that there is runs',
      { executions: [finished('a', { status: 'running' })], focusArea: 'x' },
      'There is nothing to learn from: no execution has finished yet.',
    ],
    ['nothing went wrong', { executions: well }, nothing],
    ['nothing went wrong but for workers', { executions: [...well.slice(1), lost] }, nothing],
    [
      'there is no improver',
      { improver: undefined },
      'The agent prompt-improver is not active; set its status to active first.',
    ],
    [
      'the improver is inactive',
      { improver: as(improver, { status: 'inactive' }) },
      'The agent prompt-improver is not active; set its status to active first.',
    ],
    [
      'there is no reviewer',
      { reviewer: undefined },
      'The agent qa-reviewer is not active; set its status to active first.',
    ],
    [
      'the reviewer is a draft',
      { reviewer: as(reviewer, { status: 'draft' }) },
      'The agent qa-reviewer is not active; set its status to active first.',
    ],
    ['the reviewer is to improve itself', { prepared: reviewer }, 'The reviewer cannot verify a prompt of its own.'],
  ])('where %s', async (_, given, reason) => {
    const { result, asked } = await runTestPass(given);
    expect([result, asked]).toEqual([{ reason }, []]);
  });

  it('but with a focus learns from what went well, too', async () => {
    expect((await runTestPass({ executions: well, focusArea: 'Sources' })).result).toEqual(adopted);
  });

  it('but has the improver improve itself, and an agent that is not active', async () => {
    expect((await runTestPass({ prepared: improver })).result).toHaveProperty('prompt');
    expect((await runTestPass({ prepared: as(learner, { status: 'inactive' }) })).result).toEqual(adopted);
  });
});

describe('a pass does not get to trying', () => {
  it.each<[string, Says, string]>([
    [
      'the proposal cannot be read',
      text('Be brief!'),
      'The answer of the prompt improver could not be read as a proposal.',
    ],
    ['none is made', text('{"summary":"It is fine."}'), 'No edit was proposed: It is fine.'],
    ['it changes nothing', proposes(' '), 'The proposal could not be used: its edit changes nothing.'],
    [
      'it is too long',
      proposes('x'.repeat(1_001)),
      'The proposal could not be used: its edit has more than 1000 characters.',
    ],
  ])('where %s', async (_, proposal, reason) => {
    const { result, times } = await runTestPass({ says: { proposal } });
    expect([result, times()]).toEqual([{ reason }, [1, 0, 0]]);
  });

  it('where every input is gone', async () => {
    const { reason, times } = await runTestPass({ readInput: async () => undefined });
    expect(reason).toBe('There is nothing to try a proposal on: the recent executions are gone.');
    expect(times()).toEqual([1, 0, 0]);
  });
});

describe('never adopted, in fifty tries, is', () => {
  const tries = 50;
  const reasonsOf = async (says: Parameters<typeof runTestPass>[0]) => {
    const all = await Promise.all(Array.from({ length: tries }, () => runTestPass(says)));
    return [...new Set(all.map(({ reason }) => reason))];
  };

  it.each(Object.keys(judges) as (keyof typeof judges)[])(
    'an edit that changes no answer, before a judge who is %s',
    async (judge) => {
      const says = { proposal: proposes(additions.idle), choice: judges[judge] };
      expect(await reasonsOf({ says })).toEqual(['The proposal was not seen to do better: It asks for more.']);
    },
  );

  it.each(['fair', 'first', 'second', 'neither', 'unclear'] as const)(
    'an edit that makes answers worse, before a judge who is %s',
    async (judge) => {
      const says = { proposal: proposes(additions.worse), choice: judges[judge] };
      const how = judge === 'fair' ? 'seen to do worse' : 'not seen to do better';
      expect(await reasonsOf({ says })).toEqual([`The proposal was ${how}: It asks for more.`]);
    },
  );

  it('an edit that is better for one input and worse for the other', async () => {
    const run = ({ system, user }: Question) =>
      text(
        !system.includes(additions.better) ? 'It is so.' : user.includes(' a?') ? 'See chapter 2.' : 'It may be so.',
      );
    expect(await reasonsOf({ says: { run } })).toEqual(['The proposal was seen to do worse: It asks for more.']);
  });
});

it('an edit that is better for one input and does nothing to the other is adopted', async () => {
  const run = ({ system, user }: Question) =>
    text(system.includes(additions.better) && user.includes(' a?') ? 'See chapter 2.' : 'It is so.');
  const { result, times } = await runTestPass({ says: { run } });
  expect([result, times()]).toEqual([adopted, [1, 4, 2]]);
});
