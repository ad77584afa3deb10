import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { processContext } from '../../lib/context.ts';
import { endpoints } from '../../lib/contract/endpoints.ts';
import { createTestPipeline } from '../functions/pipeline/test-pipeline.ts';
import { agentScenarios } from './agent-scenarios.ts';
import { asDeployed } from './as-deployed.ts';
import { type Budgeted, endpointBudgets, requestLog, tokenBudget } from './endpoint-budgets.ts';
import { expectBudget } from './expect-budget.ts';
import { startImprovingModel } from './improving-model.ts';
import { startMeter } from './meter.ts';
import { taskScenarios } from './task-scenarios.ts';
import { type Asked, createTestOrganization, type TestOrganization } from './test-organization.ts';
import type { Usage } from './usage.ts';
import { webhookScenarios } from './webhook-scenarios.ts';

asDeployed();
const { service } = await createTestPipeline();
// No test reads the stream here, and the engine writes faster without it.
const StreamSpecification = { StreamEnabled: false };
await service.table.client.send(new UpdateTableCommand({ TableName: service.tableName, StreamSpecification }));
await startImprovingModel();
const { usageOf } = startMeter();

const scenarios = { ...taskScenarios, ...agentScenarios, ...webhookScenarios };
const operations = Object.keys(endpointBudgets) as Budgeted[];

/** Checks that a request has the usage of its budget, and one short line of log. */
function expectRequestBudget({ logLines, logBytes, ...used }: Usage, budget: Usage): void {
  expectBudget({ ...used, logLines: 0, logBytes: 0 }, budget);
  expect(logLines).toBe(requestLog.logLines);
  expect(logBytes).toBeLessThanOrEqual(requestLog.logBytes);
}

describe('the budgets', () => {
  it.each(operations)('of %s all have a scenario', (operation) => {
    expect(Object.keys(scenarios[operation])).toEqual(Object.keys(endpointBudgets[operation]));
  });
});

describe.each(operations)('%s has the usage of its budget', (operation) => {
  const budgets: Record<string, Usage> = endpointBudgets[operation];
  const given: Record<string, (caller: TestOrganization) => Promise<Asked>> = scenarios[operation];
  let created: Promise<TestOrganization> | undefined;

  it.each(Object.keys(budgets))('%s', async (name) => {
    created ??= createTestOrganization(service);
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
    expectRequestBudget(used, budgets[name] as Usage);
  });
});

it('a token that is not cached takes one more read', async () => {
  const caller = await createTestOrganization(service);
  const list = () => caller.send('listSkillCatalogue');
  const [first, second] = [await usageOf(list), await usageOf(list)];
  expectRequestBudget(second, endpointBudgets.listSkillCatalogue.all);
  expectRequestBudget(first, tokenBudget);
});
