import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAgent } from '../../lib/agents/agents.ts';
import type { NewAgent } from '../../lib/contract/agents/agents.ts';
import { standardConduct } from '../../lib/contract/agents/standard-conduct.ts';
import { highestStepLimits } from '../../lib/contract/agents/step-limits.ts';
import { scopes } from '../../lib/contract/endpoint.ts';
import { executeAgent } from '../../lib/executions/executions.ts';
import { consumers } from '../../lib/names/consumers.ts';
import { environment } from '../../lib/names/environment.ts';
import { createTask } from '../../lib/tasks/tasks.ts';
import { json, startBedrock } from '../model/bedrock-server.ts';
import { newCaller, openService } from '../service.ts';
import { newTask } from '../table/tasks/test-table.ts';
import { queueEvent } from '../workers/queue-event.ts';
import { startConflictingTable } from './writes/conflicting-table.ts';

/** The executions that one process runs one after the other, as a container of Lambda does. */
const executions = 20;

/** A text of 16,000 characters, as long as the longest result of a tool. */
const longText = 'A sentence of some length. '.repeat(600).slice(0, 16_000);

/** An agent whose model can read tasks. */
const reader: NewAgent = {
  ...{ name: 'reader', displayName: 'Reader', category: 'business', model: 'a.model', status: 'active' },
  ...{ systemPrompt: longText, soul: '', capabilities: ['tasks.read'], ...standardConduct },
};

/** The memory of the function, and the options by which the runtime of Lambda fits the heap of Node.js to it (`/var/runtime/bootstrap`). */
const { memoryMegabytes } = consumers.runExecution;
const newSpace = Math.floor(memoryMegabytes / 10);
const heapOptions = [
  `--max-semi-space-size=${Math.floor(newSpace / 2)}`,
  `--max-old-space-size=${memoryMegabytes - newSpace}`,
];

/** Calls the handler for each event, and prints the peak of the memory of the process in KiB. `maxRSS` of Node.js would include the process that forked it. */
const driver = `
import { readFileSync } from 'node:fs';
const [bundle, ...events] = process.argv.slice(2);
const { handler } = await import(bundle);
const context = { awsRequestId: 'r', functionName: 'f', getRemainingTimeInMillis: () => 600_000 };
for (const event of events) {
  const { batchItemFailures } = await handler(JSON.parse(event), context);
  if (batchItemFailures.length > 0) throw new Error('An execution was not run.');
}
const [, peak] = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'));
process.stdout.write('\\n' + peak, () => process.exit());
`;

/**
 * Runs the bundle of `run-execution` over a table and a model on this machine: executions whose model reads a long task in each
 * of its steps, until it may make none.
 *
 * @param folder for the program that calls the bundle
 * @param steps the maximum number of calls of models and tools of an execution
 * @returns the greatest resident memory of the process, in MiB
 */
export async function memoryOfRuns(folder: string, bundle: string, steps: number): Promise<number> {
  const limits = {
    [environment.executionSteps]: String(steps),
    [environment.executionTokens]: String(highestStepLimits.tokens),
  };
  const { app, table, tableName } = await openService(Date.now, limits);
  const { organization } = await newCaller(app);
  const { id } = await createTask(app, organization, newTask({ description: longText }), undefined);
  await createAgent(app, organization, reader, undefined, scopes);
  const events: string[] = [];
  for (let nth = 0; nth < executions; nth++) {
    const { executionId } = await executeAgent(app, organization, reader.name, { input: longText }, undefined);
    events.push(JSON.stringify(queueEvent([JSON.stringify({ organization, executionId })])));
  }
  const model = await startBedrock();
  const toolUse = { toolUseId: 'call', name: 'get_task', input: { id } };
  model.answer = json({
    output: { message: { role: 'assistant', content: [{ text: longText }, { toolUse }] } },
    stopReason: 'tool_use',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  });
  const { endpoint, stop } = await startConflictingTable(table, (carriedOut) => carriedOut);
  const driverFile = join(folder, 'function-memory.mjs');
  await writeFile(driverFile, driver);
  const { stdout } = await promisify(execFile)(process.execPath, [...heapOptions, driverFile, bundle, ...events], {
    env: {
      ...limits,
      ...{ AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'example' },
      ...{ AWS_ENDPOINT_URL_DYNAMODB: endpoint, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: model.endpoint },
      ...{ [environment.tableName]: tableName },
    },
    maxBuffer: 64 * 1024 * 1024,
  });
  stop();
  if (model.received.length !== (executions * steps) / 2) throw new Error('The model was not called for each result.');
  return Number(stdout.trim().split('\n').at(-1)) / 1024;
}
