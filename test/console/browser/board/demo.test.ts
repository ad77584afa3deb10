import { describe, expect, it } from 'vitest';
import { createClient } from '../../../../lib/client/client.ts';
import type { AgentListItem, ExecutionListItem, TaskListItem } from '../../../../lib/client/operations.ts';
import { loadDemo } from '../../../../lib/console/demo/load-demo.ts';
import { removeDemo } from '../../../../lib/console/demo/remove-demo.ts';
import { dataOf, successOf } from '../../../api.ts';
import { createApiOverHttp } from '../../../api-over-http.ts';
import { createTask, newToken } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, screens, useConsole } from '../console.ts';

describe.runIf(program)('the demo board', () => {
  const consoles = useConsole();

  /** Creates an organization without content, and returns its token. */
  async function newOrganization(name: string, ...options: string[]) {
    const token = await newToken(consoles.service(), name, ...options);
    return { token, api: createApiOverHttp(consoles.service().url, token) };
  }

  it('starts on an empty board with six equal columns, runs agents with tools, and is removed', async () => {
    const { token, api } = await newOrganization('starting');
    const { page } = await consoles.open({ token, path: '/board' });
    const start = page.getByRole('region', { name: 'First steps' });
    await start.getByText('The agents run with the built-in simulator, which costs nothing.').waitFor();
    const widths = await page.locator('.column').evaluateAll((all) => all.map((one) => one.clientWidth));
    expect([widths.length, Math.max(...widths) - Math.min(...widths)]).toEqual([6, expect.closeTo(0, -0.5)]);
    expect(await accessibilityProblems(page)).toEqual([]);
    await start.getByRole('button', { name: 'Create the first task' }).click();
    await page.getByRole('dialog', { name: 'Create a task' }).waitFor();
    await page.keyboard.press('Escape');
    await start.getByRole('button', { name: 'Load a demo board' }).click();
    await page.getByText('The demo board is loaded: 16 tasks, 3 agents and 7 runs.').waitFor();
    await start.waitFor({ state: 'detached' });

    const query = 'include=results&limit=100';
    const runs = dataOf<ExecutionListItem[]>(await api.listExecutions({ query }));
    const byAgent = (name: string) => runs.filter(({ agentName }) => agentName === name).length;
    expect(['demo-lead', 'demo-writer', 'demo-reviewer'].map(byAgent)).toEqual([1, 5, 1]);
    const gates = { selfTest: 'passed', qaReview: 'passed' };
    for (const run of runs) expect(run).toMatchObject({ status: 'completed', qualityGates: gates });
    expect(runs.filter(({ startedBy }) => startedBy?.kind === 'delegation')).toHaveLength(1);
    const { groups } = successOf<{ groups: object[] }>(await api.countTasks({ query: 'group_by=status' }));
    expect(groups).toHaveLength(6);

    const ofAgent = await createTask({ api }, 'A task of the user');
    expect(await page.getByRole('button', { name: 'Remove the demo' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('button', { name: 'Remove the demo' }).waitFor();
    await page.goto(`${consoles.service().url}/#/board?project=proj_demo`);
    await page.getByRole('button', { name: 'Remove the demo' }).click();
    const question = page.getByRole('dialog', { name: 'Remove the demo?' });
    expect(await accessibilityProblems(page)).toEqual([]);
    await question.getByRole('button', { name: 'Remove the demo' }).click();
    await page.getByText('The demo is removed: 16 tasks and 3 agents.').waitFor();
    expect(dataOf<TaskListItem[]>(await api.listTasks()).map(({ id }) => id)).toEqual([ofAgent]);
    const names = dataOf<AgentListItem[]>(await api.listAgents()).map(({ name }) => name);
    expect(names.toSorted()).toEqual(['prompt-improver', 'qa-reviewer']);
    await expect.poll(() => page.getByRole('button', { name: 'Remove the demo' }).count()).toBe(0);
  });

  it('has no runs for a token that may not run agents, and says so', async () => {
    const scopes = 'tasks:read,tasks:write,agents:read,agents:write';
    const { token, api } = await newOrganization('limited', '--scopes', scopes);
    const { page } = await consoles.open({ token }, { viewport: screens.phone });
    await page.getByText('The agents do not run, because your access token lacks agents:execute.').waitFor();
    await page.getByRole('button', { name: 'Load a demo board' }).click();
    await page.getByText('The demo board is loaded: 14 tasks and 3 agents.').waitFor();
    expect((await api.listExecutions()).body).toMatchObject({ pagination: { total: 0 } });
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it('is removed without what people use, which is named', async () => {
    const { token, api } = await newOrganization('used');
    const client = createClient({ url: consoles.service().url, token });
    expect(await loadDemo(client)).toEqual({ tasks: 16, agents: 3, runs: 7 });
    const tasks = dataOf<TaskListItem[]>(await api.listTasks());
    const idOf = (title: string) => tasks.find((task) => task.title === title)?.id as string;
    successOf(await api.claimTask({ params: { id: idOf('Write the imprint') }, body: { worker: 'a-worker' } }));
    successOf(await api.createTask({ body: { title: 'Mine', dependsOn: [idOf('Announce the website')] } }));
    successOf(await api.updateAgent({ params: { name: 'demo-reviewer' }, body: { description: 'Reviews my texts.' } }));
    const { kept, ...removed } = await removeDemo(client, true);
    // The task on which the announcement depends stays with it, and so do those before that one.
    expect(removed.agents).toBe(2);
    expect(kept).toContainEqual(expect.stringMatching(/^The agent demo-reviewer stays, because/));
    expect(kept).toContainEqual(expect.stringMatching(/^The task “Write the imprint” stays\. .*a-worker/));
    expect(kept).toContainEqual(expect.stringMatching(/^The task “Announce the website” stays\. /));
    const left = dataOf<TaskListItem[]>(await api.listTasks());
    expect(left.length).toBe(16 - removed.tasks + 1);
    expect(left.map(({ title }) => title)).not.toContain('Count the visitors of the first week');
    await expect(loadDemo(client)).rejects.toThrow('There is an agent demo-reviewer that the demo has not made.');
  });

  it('is explained to a token that may only read', async () => {
    const { token } = await newOrganization('reading', '--scopes', 'tasks:read');
    const { page } = await consoles.open({ token, path: '/board' });
    await page.getByText('Your access token may only read. What others create appears here.').waitFor();
    expect(await page.getByRole('button', { name: /demo|first task/ }).count()).toBe(0);
  });
});
