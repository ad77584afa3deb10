import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { paginationOf, successOf } from '../../api.ts';
import { newFolder, startDeployment, until } from '../deployment.ts';
import { createAgent, endOf, execute } from '../requests.ts';

/** How many steps an endless execution has in this file. Each takes at least a tenth of a second. */
const steps = 200;

/** An agent that creates tasks of a project without end, and one that delegates and then does the same. */
const script = [
  {
    match: '/Delegate (\\S+) to (\\S+)/',
    step: 1,
    tool: { name: 'delegate_task', input: { toAgent: '{{match.2}}', instruction: 'Fill {{match.1}}' } },
  },
  ...['/Fill (\\S+)/', '/Delegate (\\S+) to/'].map((match) => ({
    match,
    delayMs: 100,
    tool: { name: 'create_task', input: { title: 'Another', projectId: 'proj_{{match.1}}' } },
  })),
];
const file = join(newFolder(), 'script.json');
writeFileSync(file, JSON.stringify(script));
const service = await startDeployment({ environment: { MODEL_SCRIPT: file, EXECUTION_STEPS: String(steps) } });
const capabilities = ['tasks.write', 'delegate'];

const countTasks = async (project: string) =>
  paginationOf(await service.api.listTasks({ query: `project_id=proj_${project}&limit=1` })).total;

/** Starts an execution that fills a project, and waits until it has begun to. */
async function startFilling(name: string, project: string, instruction = `Fill ${project}`): Promise<string> {
  const id = await execute(service, name, instruction);
  await until(`${name} fills ${project}`, async () => (await countTasks(project)) >= 3);
  return id;
}

/** Waits until another agent has created ten tasks. */
async function watchAnother(): Promise<void> {
  const name = await createAgent(service, `other-${Date.now()}`, { capabilities, maxSteps: 20 });
  await endOf(service, name, await execute(service, name, `Fill ${name}`));
}

const setInactive = { status: 'inactive', capabilities: [] };

describe('an agent that creates tasks without end', () => {
  it('creates no more after the response to a deletion, also if a new agent gets its name', async () => {
    const name = await createAgent(service, 'deleted', { capabilities });
    await startFilling(name, 'deleted');
    successOf(await service.api.deleteAgent({ params: { name } }));
    const before = await countTasks('deleted');
    await createAgent(service, name);
    await watchAnother();
    expect(await countTasks('deleted')).toBe(before);
  });

  it('creates no more after the response to its deactivation, and its execution fails', async () => {
    const name = await createAgent(service, 'stopped', { capabilities });
    const id = await startFilling(name, 'stopped');
    successOf(await service.api.updateAgent({ params: { name }, body: setInactive }));
    const before = await countTasks('stopped');
    expect(await endOf(service, name, id)).toMatchObject({ status: 'failed', error: 'agent_not_active' });
    await watchAnother();
    expect(await countTasks('stopped')).toBe(before);
  });

  it('creates no more after the response to a cancellation, nor does the agent to which it has delegated', async () => {
    const [from, to] = [
      await createAgent(service, 'lead', { capabilities }),
      await createAgent(service, 'helper', { capabilities }),
    ];
    const id = await startFilling(from, 'shared', `Delegate shared to ${to}`);
    const [delegated] = successOf<{ id: string }[]>(await service.api.listAgentExecutions({ params: { name: to } }));
    await until(`${to} works`, async () => {
      const params = { name: to, id: delegated?.id as string };
      return successOf<{ stepCount: number }>(await service.api.getExecution({ params })).stepCount > 3;
    });
    successOf(await service.api.cancelExecution({ params: { name: from, id } }));
    const before = await countTasks('shared');
    expect(await endOf(service, to, delegated?.id as string)).toMatchObject({ error: 'cancelled' });
    await watchAnother();
    expect(await countTasks('shared')).toBe(before);
  });
});
