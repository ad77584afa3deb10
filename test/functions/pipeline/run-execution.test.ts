import type { ConverseCommandInput } from '@aws-sdk/client-bedrock-runtime';
import { afterAll, expect, it, vi } from 'vitest';
import { converseClient } from '../../../infra/local/model/converse-client.ts';
import { updateAgent } from '../../../lib/agents/agents.ts';
import { processContext } from '../../../lib/context/context.ts';
import { scopes } from '../../../lib/contract/endpoint.ts';
import { getExecution, listSteps } from '../../../lib/executions/executions.ts';
import { setConverseClient } from '../../../lib/model/bedrock.ts';
import type { ConverseClient } from '../../../lib/model/converse.ts';
import { listTasks } from '../../../lib/tasks/tasks.ts';
import { consume } from './call-functions.ts';
import { createTestPipeline } from './test-pipeline.ts';

const { organization, startExecution } = await createTestPipeline();
vi.spyOn(processContext().log, 'error').mockImplementation(() => {});

/** The client of the current test: the function keeps the client that it gets first. */
let current: ConverseClient;
setConverseClient({ send: (...given: [never, never]) => current.send(...given) } as ConverseClient);
afterAll(() => setConverseClient(undefined));

it('run-execution runs an execution by the model of this deployment, and an invalid message fails alone', async () => {
  const text = 'Fine.\nVERDICT: PASS';
  current = converseClient(async () => ({
    ...{ kind: 'answer', text, stopReason: 'end_turn' },
    tokens: { input: 7, output: 3 },
  }));
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

it('run-execution lets the model of an agent call the tools that its capabilities grant', async () => {
  const context = processContext();
  await updateAgent(context, organization, 'qa-reviewer', { capabilities: ['tasks.write'] }, () => {}, scopes);
  const toolUse = { toolUseId: 'call-1', name: 'create_task', input: { title: 'Created by an agent' } };
  const send = async ({ input: { toolConfig, messages = [] } }: { input: ConverseCommandInput }) => {
    const calls = toolConfig !== undefined && messages.length === 1;
    return {
      output: { message: { role: 'assistant', content: [calls ? { toolUse } : { text: 'Done.\nVERDICT: PASS' }] } },
      stopReason: calls ? 'tool_use' : 'end_turn',
      usage: { totalTokens: 10 },
    };
  };
  current = { send } as never;
  const executionId = await startExecution();
  expect(await consume('runExecution', JSON.stringify({ organization, executionId }))).toEqual([]);
  const page = { limit: 20, offset: 0 };
  const { items } = await listSteps(context, organization, 'qa-reviewer', executionId, page);
  const names = items.map(({ kind, name }) => (kind === 'model' ? kind : name));
  expect(names).toEqual(['model', 'create_task', 'model', 'selfTest']);
  const tasks = await listTasks(context, organization, {}, page);
  expect(tasks.items.map(({ title }) => title)).toEqual(['Created by an agent']);
});
