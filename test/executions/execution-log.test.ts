import { expect, it } from 'vitest';
import { runExecution } from '../../lib/executions/run-execution.ts';
import { createTestExecutions, scriptedModel, text } from './test-executions.ts';

const { context, start, timeline } = await createTestExecutions({ cap: 1_000 });

it('the log fields of a completed execution have its agent, duration and gates, and no text of it', async () => {
  const message = await start({ input: 'A private input.' });
  const { tools } = scriptedModel({ work: text('A private output.', 100) });
  const { counts, ...fields } = await timeline.finish(runExecution(context, message, tools));
  expect(counts).toEqual({ ExecutionsCompleted: 1 });
  expect(fields).toEqual({
    agentName: 'writer',
    status: 'completed',
    durationMs: 0,
    error: undefined,
    selfTest: 'passed',
    qaReview: 'passed',
  });
});

it('the log fields of a failed execution have its error', async () => {
  const message = await start();
  const error = 'There is no such model, or it cannot be used from here.';
  const { tools } = scriptedModel({ work: { kind: 'failed', error, tokens: 7 } });
  expect(await timeline.finish(runExecution(context, message, tools))).toMatchObject({
    agentName: 'writer',
    status: 'failed',
    error,
  });
});
