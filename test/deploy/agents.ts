import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { outputsOf } from '../../infra/aws/deployed/stack.ts';
import type { Execution } from '../../lib/contract/executions/executions.ts';
import { consumers } from '../../lib/names/consumers.ts';
import { dataOf, paginationOf, successOf } from '../api.ts';
import { until } from '../journeys/deployment.ts';
import { createAgent, endOf, execute, readTask } from '../journeys/requests.ts';
import { createDeployedOrganization, type Deployed, stack } from './deployed.ts';

/** The longest wait for a step of the pipeline: functions start cold, one after the other. In milliseconds. */
const pipelineMs = 60_000;

/** The longest wait for a purge: the interval of its schedule, and its run. In milliseconds. */
const purgeMs = consumers.purgeAgent.sources[0].everySeconds * 1000 + pipelineMs;

/** Starts an execution and returns it once it has ended. */
export async function executed(deployed: Deployed, agent: string, input: string, more = {}): Promise<Execution> {
  return endOf(deployed, agent, await execute(deployed, agent, input, more), pipelineMs);
}

/** Returns how many items of the table are in a partition whose key contains a text. */
async function itemsOf(part: string): Promise<number> {
  const { TableName } = await outputsOf(stack);
  const client = new DynamoDBClient({});
  let found = 0;
  let ExclusiveStartKey: Record<string, { S: string }> | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName, ExclusiveStartKey, ConsistentRead: true }));
    found += (page.Items ?? []).filter(({ pk }) => pk?.S?.includes(part)).length;
    ExclusiveStartKey = page.LastEvaluatedKey as typeof ExclusiveStartKey;
  } while (ExclusiveStartKey);
  return found;
}

export function testAgents(): void {
  it('an agent with a soul and two skills completes an execution on a task, reviewed by two gates', async () => {
    const deployed = await createDeployedOrganization('workers');
    const { api } = deployed;
    const params = { name: await createAgent(deployed, 'writer', { systemPrompt: 'Write release notes.' }) };
    successOf(await api.updateSoul({ params, body: { soul: 'Plain words.' } }));
    for (const skillId of ['sk_release-notes', 'sk_code-review'])
      successOf(await api.assignSkill({ params, body: { skillId } }));
    const task = { title: 'Notes of 1.2', description: 'Every fix is named.' };
    const { id: taskId } = successOf(await api.createTask({ body: task }));

    const done = await executed(deployed, 'writer', 'Write them.', { taskId });
    expect(done).toMatchObject({
      status: 'completed',
      qualityGates: { selfTest: 'passed', qaReview: 'passed' },
      tokensUsed: 90,
    });
    const prompts = ['Plain words.', 'Write release notes.', '# Skill: release-notes', '# Skill: code-review'];
    for (const part of [done.model, ...prompts, 'Every fix is named.']) expect(done.output).toContain(part);
    expect(await readTask(deployed, taskId)).toMatchObject({ status: 'up_for_review', assignedAgent: 'writer' });
    expect(paginationOf(await api.listExecutions({ query: 'status=completed' })).total).toBe(1);
  });

  it('a deleted agent is in no response from then on, and its items leave the table', async () => {
    const deployed = await createDeployedOrganization('dismissed');
    const { api } = deployed;
    const params = { name: await createAgent(deployed, 'deleted', { soul: 'Plain words.' }) };
    const execution = await executed(deployed, 'deleted', 'One last thing.');
    const { id } = dataOf<{ id: string }>(await api.getAgent({ params }));
    const parts = [id.slice('ag_'.length), execution.id.slice('ex_'.length)];
    for (const part of parts) expect(await itemsOf(part)).toBeGreaterThan(0);

    expect((await api.deleteAgent({ params })).body).toEqual({ success: true });
    expect((await api.getAgent({ params })).status).toBe(404);
    expect(paginationOf(await api.listExecutions()).total).toBe(0);
    for (const part of parts) await until('its items are gone', async () => (await itemsOf(part)) === 0, purgeMs);
  }, 240_000);
}
