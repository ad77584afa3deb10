import { describe, expect, it } from 'vitest';
import type { Question } from '../../lib/model/converse.ts';
import { text } from '../executions/test-executions.ts';
import { additions, judges, proposes, type Says, type Step } from './learning-model.ts';
import { as, finished, improver, learner, reviewer, runTestPass } from './run-test-pass.ts';

const clean = { qaReview: 'passed' } as const;
const adopted = { prompt: `Write.\n\n${additions.better}`, summary: 'It asks for more.' };

describe('a pass', () => {
  it('returns a prompt that is judged better, with one question, four runs and four choices', async () => {
    const { result, times, tookMs, waiting } = await runTestPass();
    expect(result).toEqual(adopted);
    expect([times(), tookMs, waiting]).toEqual([[1, 4, 4], 0, 0]);
  });

  it('asks the model of each agent, with the prompt of the agent', async () => {
    const { asked } = await runTestPass({
      improver: as(improver, { soul: 'Bold.' }),
      reviewer: as(reviewer, { model: 'r' }),
    });
    const systems = new Set(asked.map(({ step, model, system }) => `${step} ${model}: ${system}`));
    expect([...systems].sort()).toEqual([
      `choice r: ${reviewer.agent.systemPrompt}`,
      `proposal system.model: Bold.\n\n${improver.agent.systemPrompt}`,
      'run writer.model: Calm.\n\nWrite.',
      `run writer.model: Calm.\n\nWrite.\n\n${additions.better}`,
    ]);
  });

  it('has the texts of users only in the user message, and shows each choice in both orders', async () => {
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

  it('tries the newest executions with troubles first, and shows all to the improver', async () => {
    const executions = [finished('good', clean), finished('late'), finished('early'), finished('first')];
    const { asked } = await runTestPass({ executions });
    const tried = asked.filter(({ step }) => step === 'run').map(({ user }) => user);
    expect([...new Set(tried)]).toEqual(['late', 'early'].map((id) => `<input>\nQuestion ${id}?\n</input>`));
    const { user } = asked[0] as Question;
    expect(user.match(/input: .*/g)).toEqual(['good', 'late', 'early', 'first'].map((id) => `input: Question ${id}?`));
  });

  it('shows the inputs of five of a hundred executions', async () => {
    const { asked } = await runTestPass({ executions: Array.from({ length: 100 }, (_, nth) => finished(`${nth}`)) });
    const { user } = asked[0] as Question;
    expect([user.match(/^- completed/gm)?.length, user.match(/input: /g)?.length]).toEqual([100, 5]);
  });

  it('tries one input if there is only one, or the other was deleted', async () => {
    expect((await runTestPass({ executions: [finished('a')] })).times()).toEqual([1, 2, 2]);
    const readInput = async ({ id }: { id: string }) => (id === 'a' ? undefined : { input: 'There.' });
    const { result, times } = await runTestPass({ readInput });
    expect([result, times()]).toEqual([adopted, [1, 2, 2]]);
  });

  it('with a focus also learns from executions without troubles', async () => {
    expect((await runTestPass({ executions: [finished('a', clean)], focusArea: 'Sources' })).result).toEqual(adopted);
  });

  it('can improve the improver, and an agent that is not active', async () => {
    expect((await runTestPass({ prepared: improver })).result).toHaveProperty('prompt');
    expect((await runTestPass({ prepared: as(learner, { status: 'inactive' }) })).result).toEqual(adopted);
  });
});

const noExecution = 'There is nothing to learn from: no execution has finished yet.';
const noTrouble = 'There is nothing to learn: the last 2 executions show no fault of the prompt.';
const notActive = (name: string) => `The agent ${name} is not active; set its status to active first.`;
const lost = finished('lost', { ...clean, status: 'failed', error: 'lost', durationMs: 90_000 });

it.each<[string, Parameters<typeof runTestPass>[0], string]>([
  ['without executions', { executions: [] }, noExecution],
  ['if all executions run', { executions: [finished('a', { status: 'running' })], focusArea: 'x' }, noExecution],
  ['without troubles', { executions: [finished('a', clean), finished('b', clean)] }, noTrouble],
  ['without troubles but lost workers', { executions: [finished('a', clean), lost] }, noTrouble],
  ['without an improver', { improver: undefined }, notActive('prompt-improver')],
  ['with an inactive improver', { improver: as(improver, { status: 'inactive' }) }, notActive('prompt-improver')],
  ['without a reviewer', { reviewer: undefined }, notActive('qa-reviewer')],
  ['with a draft of a reviewer', { reviewer: as(reviewer, { status: 'draft' }) }, notActive('qa-reviewer')],
  ['of the reviewer itself', { prepared: reviewer }, 'The reviewer cannot verify a prompt of its own.'],
])('a pass %s asks no model', async (_, options, reason) => {
  const { result, asked } = await runTestPass(options);
  expect([result, asked]).toEqual([{ reason }, []]);
});

it.each<[Says, string]>([
  [text('Be brief!'), 'The answer of the prompt improver could not be read as a proposal.'],
  [text('{"summary":"It is fine."}'), 'No edit was proposed: It is fine.'],
  [proposes(' '), 'The proposal could not be used: its edit changes nothing.'],
  [proposes('x'.repeat(1_001)), 'The proposal could not be used: its edit has more than 1000 characters.'],
])('a proposal that cannot be used is not tried (%#)', async (proposal, reason) => {
  const { result, times } = await runTestPass({ says: { proposal } });
  expect([result, times()]).toEqual([{ reason }, [1, 0, 0]]);
});

it('a proposal is not tried if all inputs were deleted', async () => {
  const { reason, times } = await runTestPass({ readInput: async () => undefined });
  expect(reason).toBe('There is nothing to try a proposal on: the recent executions are gone.');
  expect(times()).toEqual([1, 0, 0]);
});

describe('in fifty passes, no pass adopts an edit that', () => {
  const reasonsOf = async (says: Partial<Record<Step, Says>>) => {
    const passes = await Promise.all(Array.from({ length: 50 }, () => runTestPass({ says })));
    return [...new Set(passes.map(({ reason }) => reason))];
  };
  const notBetter = ['The proposal was not seen to do better: It asks for more.'];
  const worse = ['The proposal was seen to do worse: It asks for more.'];

  it.each(Object.entries(judges))('changes no answer, with the judge %s', async (_, choice) => {
    expect(await reasonsOf({ proposal: proposes(additions.idle), choice })).toEqual(notBetter);
  });

  it.each([
    ['fair', worse],
    ['first', notBetter],
    ['second', notBetter],
    ['neither', notBetter],
    ['unclear', notBetter],
  ] as const)('makes answers worse, with the judge %s', async (judge, reasons) => {
    expect(await reasonsOf({ proposal: proposes(additions.worse), choice: judges[judge] })).toEqual(reasons);
  });

  it('is better for one input and worse for the other', async () => {
    const run = ({ system, user }: Question) => {
      if (!system.includes(additions.better)) return text('It is so.');
      return text(user.includes(' a?') ? 'See chapter 2.' : 'It may be so.');
    };
    expect(await reasonsOf({ run })).toEqual(worse);
  });
});

it('an edit that is better for one input and changes nothing for the other is adopted', async () => {
  const run = ({ system, user }: Question) =>
    text(system.includes(additions.better) && user.includes(' a?') ? 'See chapter 2.' : 'It is so.');
  const { result, times } = await runTestPass({ says: { run } });
  expect([result, times()]).toEqual([adopted, [1, 4, 2]]);
});
