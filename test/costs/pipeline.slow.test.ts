import { describe, expect, it } from 'vitest';
import { type ConsumerName, consumers } from '../../lib/deployment/consumers.ts';
import { createTestPipeline } from '../functions/pipeline/test-pipeline.ts';
import { asDeployed } from './as-deployed.ts';
import { expectBudget } from './expect-budget.ts';
import { startImprovingModel } from './improving-model.ts';
import { startMeter } from './meter.ts';
import { pipelineBudgets } from './pipeline-budgets.ts';
import { pipelineScenarios } from './pipeline-scenarios.ts';
import { createTestOrganization, type TestOrganization } from './test-organization.ts';
import type { Usage } from './usage.ts';

asDeployed();
const pipeline = await createTestPipeline();
await startImprovingModel();
const { usageOf } = startMeter();

const scenarios = pipelineScenarios(pipeline);
const functions = Object.keys(pipelineBudgets) as ConsumerName[];

describe('the budgets', () => {
  it('are of every function of the pipeline', () => {
    expect([...functions].sort()).toEqual(Object.keys(consumers).sort());
  });

  it.each(functions)('of %s all have a scenario', (name) => {
    expect(Object.keys(scenarios[name])).toEqual(Object.keys(pipelineBudgets[name]));
  });
});

describe.each(functions)('%s has the usage of its budget', (name) => {
  const budgets: Record<string, Usage> = pipelineBudgets[name];
  const steps: Record<string, (caller: TestOrganization) => Promise<() => Promise<unknown>>> = scenarios[name];

  it.each(Object.keys(budgets))('%s', async (step) => {
    const act = await steps[step]?.(await createTestOrganization(pipeline.service));
    const used = await usageOf(async () => act?.());
    expectBudget(used, budgets[step] as Usage);
    // The next step must not receive these messages.
    for (const queue of ['deliveries', 'executions', 'purges'] as const) await pipeline.receive(queue);
  });
});
