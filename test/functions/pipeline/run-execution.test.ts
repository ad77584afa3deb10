import { expect, it, vi } from 'vitest';
import { converseClient } from '../../../infra/local/model/converse-client.ts';
import { processContext } from '../../../lib/context.ts';
import { getExecution } from '../../../lib/executions/executions.ts';
import { setConverseClient } from '../../../lib/model/bedrock.ts';
import { consume } from './call-functions.ts';
import { createTestPipeline } from './test-pipeline.ts';

const { organization, startExecution } = await createTestPipeline();
vi.spyOn(processContext().log, 'error').mockImplementation(() => {});

it('run-execution runs an execution by the model of this deployment, and an invalid message fails alone', async () => {
  const text = 'Fine.\nVERDICT: PASS';
  setConverseClient(
    converseClient(async () => ({ kind: 'answer', text, stopReason: 'end_turn', tokens: { input: 7, output: 3 } })),
  );
  const id = await startExecution();
  const broken = JSON.stringify({ organization, executionId: id.replace('ex_', 'tk_') });
  expect(await consume('runExecution', broken, JSON.stringify({ organization, executionId: id }))).toEqual([
    'message-0',
  ]);
  // The agent is the reviewer itself, so its work and its self-test are the only questions.
  expect(await getExecution(processContext(), organization, 'qa-reviewer', id)).toMatchObject({
    ...{ status: 'completed', output: text, tokensUsed: 20 },
  });
});
