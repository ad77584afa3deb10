import { expect, it } from 'vitest';
import type { ModelAnswer, Question } from '../../../lib/model/converse.ts';
import { estimatedInput } from '../../../lib/model/input-estimate.ts';
import { readExecutionHead } from '../../../lib/table/executions/executions.ts';
import { createTestExecutions, scriptedModel, silent, text } from '../test-executions.ts';
import { requesting } from '../tool-scripts.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, timeline, clock, context, sent } = fixture;
const minute = 60_000;
context.executionLimits = { ...context.executionLimits, durationMs: 60 * minute };
await fixture.addAgent('patient', { capabilities: ['tasks.write'] });

/** Returns a model that takes a time for each answer. */
const slowly =
  (milliseconds: number, answer: (question: Question) => ModelAnswer) =>
  async (question: Question): Promise<ModelAnswer> => {
    await timeline.pause(milliseconds, question.signal);
    return question.signal.aborted ? { kind: 'aborted', tokens: 0 } : answer(question);
  };

/** Runs an execution by one worker after the other, each in an invocation of 11 minutes; returns the time of each. */
async function runInInvocations(says: Parameters<typeof scriptedModel>[0], name: string) {
  const message = await fixture.start({}, name);
  const { tools, times, asked } = scriptedModel(says);
  const begun = clock();
  const workers: { minutes: number; claims: number | undefined }[] = [];
  for (;;) {
    const from = clock();
    await fixture.finish(message, tools);
    const head = await readExecutionHead(context, { organization, id: message.executionId });
    workers.push({ minutes: (clock() - from) / minute, claims: head?.claims });
    const next = sent.pop();
    if (!next)
      return {
        ...{ execution: await fixture.execution(message), workers, times, asked },
        minutes: (clock() - begun) / minute,
      };
    expect(next.delaySeconds).toBe(0);
  }
}

it('an execution with a longer deadline is handed over between its steps, and no worker counts as lost', async () => {
  const work = slowly(2 * minute, ({ turns = [] }) =>
    turns.length < 4
      ? requesting([['create_task', { title: `Part ${turns.length}` }]], turns.length)
      : text('Done.', 10),
  );
  const { execution, workers, times } = await runInInvocations({ work }, 'patient');
  expect(execution).toMatchObject({ status: 'completed', output: 'Done.', durationMs: 10 * minute, tokensUsed: 61 });
  expect(workers).toEqual([
    { minutes: 6, claims: 0 },
    { minutes: 4, claims: 1 },
  ]);
  expect(times('work')).toBe(5);
});

it('a model call at the end of a worker’s time is interrupted and repeated once, then fails the execution', async () => {
  for (const name of ['writer', 'patient']) {
    const { execution, workers, times, asked } = await runInInvocations({ work: silent }, name);
    const tokensUsed = 2 * estimatedInput(asked[0] as Question);
    const error = 'The model did not answer in time.';
    expect(execution).toMatchObject({ status: 'failed', error, tokensUsed, tokensEstimated: true });
    expect([workers.map(({ minutes }) => minutes), times('work')]).toEqual([[10, 10], 2]);
  }
});

it('quality gates at the end of a worker’s time are repeated once, then skipped', async () => {
  const { execution, workers, times, asked } = await runInInvocations({ qaReview: silent }, 'writer');
  const qualityGates = { selfTest: 'passed', qaReview: 'skipped' };
  const tokensUsed = 110 + 2 * estimatedInput(asked.find(({ purpose }) => purpose === 'qaReview') as Question);
  expect(execution).toMatchObject({ status: 'completed', output: 'Done.', tokensUsed, qualityGates });
  expect([workers.length, times('work'), times('selfTest'), times('qaReview')]).toEqual([2, 1, 1, 2]);
});

it('the deadline ends an execution whose workers hand it over', async () => {
  const work = slowly(4 * minute, ({ turns = [] }) => requesting([['create_task', { title: 'Part' }]], turns.length));
  context.executionLimits = { ...context.executionLimits, durationMs: 15 * minute };
  const { execution, minutes } = await runInInvocations({ work }, 'patient');
  expect([execution?.error, minutes]).toEqual(['deadline', 15]);
});
