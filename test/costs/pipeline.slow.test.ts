import { describe, expect, it } from 'vitest';
import { type ConsumerName, consumers } from '../../lib/deployment/consumers.ts';
import { openPipeline } from '../functions/pipeline/pipeline.ts';
import { asDeployed } from './as-deployed.ts';
import { type Company, foundCompany } from './company.ts';
import { expectBudget } from './expect-budget.ts';
import { startLearning } from './learning.ts';
import { startMeter } from './meter.ts';
import { pipelineBudgets } from './pipeline-budgets.ts';
import { pipelineScenarios } from './pipeline-scenarios.ts';
import type { Usage } from './usage.ts';

asDeployed();
const pipeline = await openPipeline();
await startLearning();
const { usageOf } = startMeter();

const scenarios = pipelineScenarios(pipeline);
const functions = Object.keys(pipelineBudgets) as ConsumerName[];

describe('the budgets', () => {
  it('are of every function of the pipeline', () => {
    expect([...functions].sort()).toEqual(Object.keys(consumers).sort());
  });

  it.each(functions)('of %s are each measured', (name) => {
    expect(Object.keys(scenarios[name])).toEqual(Object.keys(pipelineBudgets[name]));
  });
});

describe.each(functions)('%s takes no more and no less than is said', (name) => {
  const budgets: Record<string, Usage> = pipelineBudgets[name];
  const steps: Record<string, (company: Company) => Promise<() => Promise<unknown>>> = scenarios[name];

  it.each(Object.keys(budgets))('%s', async (step) => {
    const act = await steps[step]?.(await foundCompany(pipeline.service));
    const used = await usageOf(async () => act?.());
    expectBudget(used, budgets[step] as Usage);
    // What is left waiting is nobody else's.
    for (const queue of ['deliveries', 'executions', 'purges'] as const) await pipeline.receive(queue);
  });
});
