import { describe, expect, it } from 'vitest';
import type { Answer } from '../../lib/model/converse.ts';
import { silent } from '../executions/test-executions.ts';
import { type Says, type Step, usual } from './learning-model.ts';
import { runTestPass } from './run-test-pass.ts';

/** How the reason begins when a step fails. */
const beginnings: Record<Step, string> = {
  proposal: 'No edit was proposed.',
  run: 'The proposal could not be tried.',
  choice: 'The proposal could not be judged.',
};
const steps = Object.keys(beginnings) as Step[];

/** When the time of each step is over. */
const overAt: Record<Step, number> = { proposal: 9_000, run: 18_000, choice: 24_000 };

const modelRefused: Answer = { kind: 'failed', error: 'The model refused to do this.', tokens: 1 };
const throttled: Answer = { kind: 'throttled', tokens: 0 };
const saying = (step: Step, says: Says) => runTestPass({ says: { [step]: says } });

describe.each(steps)('a model that at the %s', (step) => {
  it.each<[string, Answer, string]>([
    [
      'gives an empty answer',
      { kind: 'failed', error: 'The answer of the model was empty.', tokens: 1 },
      'The answer of the model was empty.',
    ],
    ['refuses', modelRefused, 'The model refused to do this.'],
    [
      'cannot be read',
      { kind: 'faulty', error: 'The answer of the model could not be read.', tokens: 1 },
      'The answer of the model could not be read.',
    ],
  ])('%s ends the pass at once, and is the reason', async (_, answer, error) => {
    const { result, tookMs, waiting } = await saying(step, answer);
    expect([result, tookMs, waiting]).toEqual([{ reason: `${beginnings[step]} ${error}` }, 0, 0]);
  });

  it('refuses its last question ends the pass, too', async () => {
    let left = step === 'proposal' ? 0 : 3;
    const { reason } = await saying(step, (question) => (left-- > 0 ? usual[step](question) : modelRefused));
    expect(reason).toBe(`${beginnings[step]} The model refused to do this.`);
  });

  it.each([
    ['is silent', silent],
    ['only throttles', throttled],
  ])('%s ends the pass when the step is over, because no time is left', async (_, says) => {
    const { result, tookMs, waiting } = await saying(step, says);
    expect(result).toEqual({ reason: `${beginnings[step]} There was no time left.` });
    expect([tookMs, waiting]).toEqual([overAt[step], 0]);
    expect(tookMs).toBeLessThan(25_000);
  });

  it('throttles once is asked again within a second', async () => {
    let left = 1;
    const { result, tookMs } = await saying(step, (question) => (left-- > 0 ? throttled : usual[step](question)));
    expect(result).toHaveProperty('prompt');
    expect(tookMs).toBeLessThanOrEqual(1_000);
  });
});

describe('a pass whose answers are slow', () => {
  const justInTime = { proposal: 8_999, run: 8_999, choice: 5_999 };

  it('has its time shared out: the last answer may come after 24 seconds', async () => {
    const { result, tookMs } = await runTestPass({ latencyMs: justInTime });
    expect(result).toHaveProperty('prompt');
    expect(tookMs).toBe(23_997);
  });

  it.each(steps)('at the %s, by as much as is left, ends when the step is over', async (step) => {
    const { reason, tookMs } = await runTestPass({ latencyMs: { ...justInTime, [step]: 60_000 } });
    expect([reason, tookMs]).toEqual([`${beginnings[step]} There was no time left.`, overAt[step]]);
  });

  it('has no more time where the request had begun long before', async () => {
    const { reason, tookMs, asked } = await runTestPass({ lateMs: 9_000 });
    expect([reason, tookMs, asked]).toEqual([`${beginnings.proposal} There was no time left.`, 9_000, []]);
  });
});
