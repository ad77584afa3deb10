import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { processContext } from '../../lib/context.ts';
import { endpoints } from '../../lib/contract/endpoints.ts';
import { openPipeline } from '../functions/pipeline/pipeline.ts';
import { agentScenarios } from './agent-scenarios.ts';
import { asDeployed } from './as-deployed.ts';
import { type Asked, type Company, foundCompany } from './company.ts';
import { type Budgeted, endpointBudgets, requestLog, tokenBudget } from './endpoint-budgets.ts';
import { expectBudget } from './expect-budget.ts';
import { startLearning } from './learning.ts';
import { startMeter } from './meter.ts';
import { taskScenarios } from './task-scenarios.ts';
import type { Usage } from './usage.ts';
import { webhookScenarios } from './webhook-scenarios.ts';

asDeployed();
const { service } = await openPipeline();
// Nobody reads the stream here, and the engine writes faster without it.
const StreamSpecification = { StreamEnabled: false };
await service.table.client.send(new UpdateTableCommand({ TableName: service.tableName, StreamSpecification }));
await startLearning();
const { usageOf } = startMeter();

const scenarios = { ...taskScenarios, ...agentScenarios, ...webhookScenarios };
const operations = Object.keys(endpointBudgets) as Budgeted[];

/** Holds a request to its budget, and its log to one short line. */
function expectRequestBudget({ logLines, logBytes, ...used }: Usage, budget: Usage): void {
  expectBudget({ ...used, logLines: 0, logBytes: 0 }, budget);
  expect(logLines).toBe(requestLog.logLines);
  expect(logBytes).toBeLessThanOrEqual(requestLog.logBytes);
}

describe('the budgets', () => {
  it.each(operations)('of %s are each measured', (operation) => {
    expect(Object.keys(scenarios[operation])).toEqual(Object.keys(endpointBudgets[operation]));
  });
});

describe.each(operations)('%s takes no more and no less than is said', (operation) => {
  const budgets: Record<string, Usage> = endpointBudgets[operation];
  const given: Record<string, (company: Company) => Promise<Asked>> = scenarios[operation];
  let founded: Promise<Company> | undefined;

  it.each(Object.keys(budgets))('%s', async (name) => {
    founded ??= foundCompany(service);
    const company = await founded;
    const asked = await given[name]?.(company);
    // Has the token read, as by a request before it; what it asks for is refused after that.
    const refused = await company.send(operation, { ...asked, query: 'unknown=1' });
    expect(refused.status).toBe(400);
    // A function has read no agents for another one.
    processContext().preparedAgents.clear();
    let status = 0;
    const used = await usageOf(async () => {
      ({ status } = await company.send(operation, asked));
    });
    expect(status).toBe(endpoints[operation].status);
    expectRequestBudget(used, budgets[name] as Usage);
  });
});

it('a token that was not used lately takes one read more', async () => {
  const company = await foundCompany(service);
  const list = () => company.send('listSkillCatalogue');
  const [first, second] = [await usageOf(list), await usageOf(list)];
  expectRequestBudget(second, endpointBudgets.listSkillCatalogue.all);
  expectRequestBudget(first, tokenBudget);
});
