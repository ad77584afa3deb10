import { describe, expect, it } from 'vitest';
import type { Answer } from '../../lib/model/converse.ts';
import { silent } from '../executions/test-executions.ts';
import { type Says, type Step, usual } from './learning-model.ts';
import { runTestPass } from './run-test-pass.ts';

/** How the reason begins when a step fails, and when the time of the step is over. */
const steps: [Step, string, number][] = [
  ['proposal', 'No edit was proposed.', 9_000],
  ['run', 'The proposal could not be tried.', 18_000],
  ['choice', 'The proposal could not be judged.', 24_000],
];
const noTime = 'There was no time left.';
const modelRefused: Answer = { kind: 'failed', error: 'The model refused to do this.', tokens: 1 };
const unreadable: Answer = { kind: 'faulty', error: 'The answer of the model could not be read.', tokens: 1 };
const throttled: Answer = { kind: 'throttled', tokens: 0 };

describe.each(steps)('a model that at the %s', (step, beginning, overAt) => {
  const saying = (says: Says) => runTestPass({ says: { [step]: says } });

  it.each([modelRefused, unreadable])('answers %j ends the pass at once with its error', async (answer) => {
    const { result, tookMs, waiting } = await saying(answer);
    const reason = `${beginning} ${'error' in answer && answer.error}`;
    expect([result, tookMs, waiting]).toEqual([{ reason }, 0, 0]);
  });

  it('refuses only its last question ends the pass too', async () => {
    let left = step === 'proposal' ? 0 : 3;
    const { reason } = await saying((question) => (left-- > 0 ? usual[step](question) : modelRefused));
    expect(reason).toBe(`${beginning} The model refused to do this.`);
  });

  it.each([
    ['is silent', silent],
    ['only throttles', throttled],
  ])('%s ends the pass when the time of the step is over', async (_, says) => {
    const { result, tookMs, waiting } = await saying(says);
    expect([result, tookMs, waiting]).toEqual([{ reason: `${beginning} ${noTime}` }, overAt, 0]);
  });

  it('throttles once is asked again within a second', async () => {
    let left = 1;
    const { result, tookMs } = await saying((question) => (left-- > 0 ? throttled : usual[step](question)));
    expect(result).toHaveProperty('prompt');
    expect(tookMs).toBeLessThanOrEqual(1_000);
  });
});

describe('a pass with slow answers', () => {
  const justInTime = { proposal: 8_999, run: 8_999, choice: 5_999 };

  it('can use the time of every step', async () => {
    const { result, tookMs } = await runTestPass({ latencyMs: justInTime });
    expect(result).toHaveProperty('prompt');
    expect(tookMs).toBe(23_997);
  });

  it.each(steps)('at the %s ends when the time of that step is over', async (step, beginning, overAt) => {
    const { reason, tookMs } = await runTestPass({ latencyMs: { ...justInTime, [step]: 60_000 } });
    expect([reason, tookMs]).toEqual([`${beginning} ${noTime}`, overAt]);
  });

  it('asks nothing if the request began too long ago', async () => {
    const { reason, tookMs, asked } = await runTestPass({ lateMs: 9_000 });
    expect([reason, tookMs, asked]).toEqual([`No edit was proposed. ${noTime}`, 9_000, []]);
  });
});
