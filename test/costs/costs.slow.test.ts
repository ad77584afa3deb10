import { describe, expect, it } from 'vitest';
import { processContext } from '../../lib/context/context.ts';
import { endpoints } from '../../lib/contract/endpoints.ts';
import { type ConsumerName, consumers } from '../../lib/names/consumers.ts';
import { environment } from '../../lib/names/environment.ts';
import { createTestPipeline } from '../functions/pipeline/test-pipeline.ts';
import { learningModel } from '../improvements/learning-model.ts';
import { json, startBedrock } from '../model/bedrock-server.ts';
import { type Budgeted, endpointBudgets, requestLog, tokenBudget, tokenUseBudget } from './endpoint-budgets.ts';
import { startMeter } from './meter.ts';
import { pipelineBudgets } from './pipeline-budgets.ts';
import { agentScenarios } from './scenarios/agent-scenarios.ts';
import { eventScenarios } from './scenarios/event-scenarios.ts';
import { pipelineScenarios } from './scenarios/pipeline-scenarios.ts';
import { taskScenarios } from './scenarios/task-scenarios.ts';
import { webhookScenarios } from './scenarios/webhook-scenarios.ts';
import { type Asked, createTestOrganization, type TestOrganization } from './test-organization.ts';
import type { Usage } from './usage.ts';

// Logs and metrics are written as in AWS, and secrets are encrypted by a key of KMS, which the meter mocks.
Object.assign(process.env, {
  POWERTOOLS_LOG_LEVEL: 'INFO',
  [environment.serviceName]: 'Crewboard',
  [environment.secretsKeyId]: 'arn:aws:kms:us-east-1:111122223333:key/played',
  AWS_REGION: 'us-east-1',
});
const pipeline = await createTestPipeline();
await startImprovingModel();
const { usageOf } = startMeter(pipeline.service.table);

/** Starts a model for the functions of this process that follows its prompt, and proposes an edit that is adopted. */
async function startImprovingModel(): Promise<void> {
  const bedrock = await startBedrock();
  process.env[environment.modelEndpoint] = bedrock.endpoint;
  const { tools } = learningModel();
  bedrock.answer = async (response) => {
    const { path: model, body } = bedrock.received.at(-1) ?? { path: '', body: '{}' };
    const { system, messages } = JSON.parse(body);
    const question = { model, system: system?.[0].text ?? '', user: messages[0].content[0].text, maxTokens: 1 };
    const said = await tools.model({ ...question, signal: new AbortController().signal });
    const content = [{ text: said.kind === 'text' ? said.text : '' }];
    const message = { role: 'assistant', content };
    json({ output: { message }, stopReason: 'end_turn', usage: { totalTokens: 1 } })(response);
  };
}

/** Checks that a usage is its budget: the same counts, and about as many bytes of log, since messages may be reworded. */
function expectBudget({ logBytes, ...used }: Usage, { logBytes: budgetedBytes, ...budget }: Usage): void {
  expect(used).toEqual(budget);
  expect(Math.abs(logBytes - budgetedBytes)).toBeLessThanOrEqual(budgetedBytes * 0.2);
}

/** Checks that a request has the usage of its budget, and one short line of log. */
function expectRequestBudget({ logLines, logBytes, ...used }: Usage, budget: Usage, lines = 1): void {
  expectBudget({ ...used, logLines: 0, logBytes: 0 }, budget);
  expect(logLines).toBe(requestLog.logLines * lines);
  // The longest path names two ids and an action.
  expect(logBytes).toBeLessThanOrEqual((requestLog.logBytes + 20) * lines);
}

const ofPipeline = pipelineScenarios(pipeline);
const ofEndpoints = { ...taskScenarios, ...agentScenarios, ...webhookScenarios, ...eventScenarios };
const functions = Object.keys(pipelineBudgets) as ConsumerName[];
const operations = Object.keys(endpointBudgets) as Budgeted[];

it('every function of the pipeline has a budget, and every budget has a scenario', () => {
  expect([...functions].sort()).toEqual(Object.keys(consumers).sort());
  const scenarios: Record<string, object> = { ...ofPipeline, ...ofEndpoints };
  for (const [name, budgets] of Object.entries({ ...pipelineBudgets, ...endpointBudgets }))
    expect([name, ...Object.keys(scenarios[name] ?? {})]).toEqual([name, ...Object.keys(budgets)]);
});

// First, because a sweep covers all organizations.
describe.each(functions)('%s has the usage of its budget', (name) => {
  const budgets: Record<string, Usage> = pipelineBudgets[name];
  const steps: Record<string, (caller: TestOrganization) => Promise<() => Promise<unknown>>> = ofPipeline[name];

  it.each(Object.keys(budgets))('%s', async (step) => {
    const act = await steps[step]?.(await createTestOrganization(pipeline.service));
    const used = await usageOf(async () => act?.());
    expectBudget(used, budgets[step] as Usage);
    // The next step must not receive these messages.
    for (const queue of ['deliveries', 'executions'] as const) await pipeline.receive(queue);
  });
});

describe.each(operations)('%s has the usage of its budget', (operation) => {
  const budgets: Record<string, Usage> = endpointBudgets[operation];
  const given: Record<string, (caller: TestOrganization) => Promise<Asked>> = ofEndpoints[operation];
  let created: Promise<TestOrganization> | undefined;

  it.each(Object.keys(budgets))('%s', async (name) => {
    created ??= createTestOrganization(pipeline.service);
    const caller = await created;
    const asked = await given[name]?.(caller);
    // A request before has read the token; this one is refused after that.
    const refused = await caller.send(operation, { ...asked, query: 'unknown=1' });
    expect(refused.status).toBe(400);
    // The functions of AWS share no cache of agents.
    processContext().preparedAgents.clear();
    let status = 0;
    const used = await usageOf(async () => {
      ({ status } = await caller.send(operation, asked));
    });
    expect(status).toBe(endpoints[operation].status);
    // A request that asks models has a line with their tokens, too.
    const lines = 'asksModels' in endpoints[operation] ? 2 : 1;
    expectRequestBudget(used, budgets[name] as Usage, lines);
  });
});

it('a token that is not cached takes one more read, and its first use in an hour one write', async () => {
  const caller = await createTestOrganization(pipeline.service);
  const list = () => caller.send('listSkillCatalogue');
  const [first, second] = [await usageOf(list), await usageOf(list)];
  expectRequestBudget(second, endpointBudgets.listSkillCatalogue.all);
  for (const cached of processContext().cachedTokens.values()) cached.until = 0;
  expectRequestBudget(await usageOf(list), tokenBudget);
  expectRequestBudget(first, tokenUseBudget);
});
