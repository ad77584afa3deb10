import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { outputsOf } from '../../infra/cli/stack/stack.ts';
import { until } from '../journeys/deployment.ts';
import { type Deployed, openDeployed, stack } from './deployed.ts';

/** An execution as its detail tells of it. */
type Execution = {
  status: string;
  output?: string;
  error?: string;
  model: string;
  tokensUsed: number;
  qualityGates: { selfTest: string; qaReview: string };
};

const agents = '/api/agents';

/** Functions start cold here, one after the other down the pipeline. */
const patienceMs = 60_000;

/** Hires an agent. */
export async function hire({ api }: Deployed, name: string, more: object = {}): Promise<void> {
  const body = { name, displayName: name, category: 'development', ...more };
  expect((await api('POST', agents, { body })).status).toBe(201);
}

/** Has an agent carry something out, and waits for the end of it. */
export async function execute({ api }: Deployed, agent: string, body: object): Promise<Execution> {
  const started = await api('POST', `${agents}/${agent}/execute`, { body });
  expect([started.status, started.body.data.status]).toEqual([200, 'running']);
  const path = `${agents}/${agent}/executions/${started.body.data.executionId}`;
  const end = async () => {
    const { data } = (await api<Execution>('GET', path)).body;
    return data.status === 'running' ? undefined : data;
  };
  return until('the execution ends', end, patienceMs) as Promise<Execution>;
}

/** How many items of the table are in a partition whose key has this in it. */
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

/** Agents, and what they carry out. */
export function tellOfAgents(): void {
  it('has an agent with a soul and two skills carry out a task, reviewed by two gates', async () => {
    const deployed = await openDeployed('workers');
    const { api } = deployed;
    await hire(deployed, 'writer', { systemPrompt: 'Write release notes.' });
    expect((await api('PATCH', `${agents}/writer/soul`, { body: { soul: 'Plain words.' } })).status).toBe(200);
    for (const skillId of ['sk_release-notes', 'sk_code-review'])
      expect((await api('POST', `${agents}/writer/skills`, { body: { skillId } })).status).toBe(201);
    const task = { title: 'Notes of 1.2', description: 'Every fix is named.' };
    const taskId = (await api('POST', '/api/kanban-tasks', { body: task })).body.data.id as string;

    const done = await execute(deployed, 'writer', { input: 'Write them.', taskId });
    expect(done).toMatchObject({
      status: 'completed',
      qualityGates: { selfTest: 'passed', qaReview: 'passed' },
      tokensUsed: 90,
    });
    for (const told of [
      done.model,
      'Plain words.',
      'Write release notes.',
      '# Skill: release-notes',
      '# Skill: code-review',
    ])
      expect(done.output).toContain(told);
    expect(done.output).toContain('Every fix is named.');
    const moved = await api('GET', `/api/kanban-tasks/${taskId}`);
    expect(moved.body.data).toMatchObject({ status: 'up_for_review', assignedAgent: 'writer' });
    expect((await api('GET', `${agents}/executions?status=completed`)).body.pagination.total).toBe(1);
  });

  it('takes a deleted agent out of every read at once, and out of the table behind the answer', async () => {
    const deployed = await openDeployed('dismissed');
    const { api } = deployed;
    await hire(deployed, 'leaver', { soul: 'Leaves.' });
    await execute(deployed, 'leaver', { input: 'One last thing.' });
    const [execution] = (await api<{ id: string }[]>('GET', `${agents}/leaver/executions`)).body.data;
    const id = (await api('GET', `${agents}/leaver`)).body.data.id as string;
    const parts = [id.slice('ag_'.length), (execution as { id: string }).id.slice('ex_'.length)];
    for (const part of parts) expect(await itemsOf(part)).toBeGreaterThan(0);

    expect((await api('DELETE', `${agents}/leaver`)).text).toBe('{"success":true}');
    expect((await api('GET', `${agents}/leaver`)).status).toBe(404);
    expect((await api('GET', `${agents}/executions`)).body.pagination.total).toBe(0);
    for (const part of parts) await until('nothing of it is left', async () => (await itemsOf(part)) === 0, patienceMs);
  });
}
