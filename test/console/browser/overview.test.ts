import { describe, expect, it } from 'vitest';
import { successOf } from '../../api.ts';
import { createApiOverHttp } from '../../api-over-http.ts';
import { startHeldModel } from '../../journeys/executions/held-model.ts';
import { attemptsOf, createAgent, createTask, endOf, execute, newToken, register } from '../../journeys/requests.ts';
import { accessibilityProblems } from './axe.ts';
import { program, screens, useConsole } from './console.ts';
import { tabTo } from './keyboard.ts';

describe.runIf(program)('the overview of the console', async () => {
  const model = await startHeldModel();
  const consoles = useConsole({ environment: model.environment });

  /** Creates an organization without content, and returns its token. */
  async function newOrganization(name: string, ...options: string[]) {
    const token = await newToken(consoles.service(), name, ...options);
    return { token, api: createApiOverHttp(consoles.service().url, token) };
  }

  it('leads a new organization to its first steps, and loads a demo board by keyboard only', async () => {
    const organization = await newOrganization('new');
    const { page } = await consoles.open({ token: organization.token });
    await page.getByRole('heading', { name: 'This organization has no tasks yet' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    for (const name of ['Create an agent', 'Create a task', 'Register a webhook']) {
      await page.getByRole('link', { name }).click();
      await page.getByRole('dialog', { name }).waitFor();
      await page.goBack();
    }
    // Its agents are answered by a model server, so they do not run.
    await page.getByText('The agents do not run, because the tokens of the model can cost money').waitFor();
    await tabTo(page.getByRole('button', { name: 'Load a demo board' }));
    await page.keyboard.press('Enter');
    await page.getByText('The demo board is loaded: 14 tasks and 3 agents.').waitFor();
    const tile = page.getByRole('region', { name: 'Tasks' });
    await tile.getByText('14', { exact: true }).waitFor();
    await tile.getByText('in progress 1', { exact: true }).waitFor();

    const { body } = await organization.api.listTasks({ query: 'project_id=proj_demo' });
    expect(body).toMatchObject({ pagination: { total: 14 } });
    expect((await organization.api.listExecutions()).body).toMatchObject({ pagination: { total: 0 } });
    await tabTo(tile.getByRole('link', { name: 'Tasks' }));
    await page.keyboard.press('Enter');
    await page.waitForURL('**/#/board');
  });

  it('offers no demo board to a token that may not create agents', async () => {
    const scopes = 'tasks:read,tasks:write,agents:read';
    const { token } = await newOrganization('limited', '--scopes', scopes);
    const { page } = await consoles.open({ token });
    await page.getByRole('heading', { name: 'This organization has no tasks yet' }).waitFor();
    expect(await page.getByRole('button', { name: 'Load a demo board' }).count()).toBe(0);
  });

  it('follows what runs and what happened last', async () => {
    const organization = await newOrganization('busy');
    const title = '<img src=x onerror="document.title=1"> Notes';
    await createTask(organization, title);
    const agent = await createAgent(organization, 'writer');
    const { page } = await consoles.open({ token: organization.token });
    const running = page.getByRole('region', { name: 'Running' });
    await running.getByText('No agent is running.').waitFor();
    await page.getByRole('region', { name: 'Latest events' }).getByText(title).waitFor();

    const input = 'Write the newsletter of the launch';
    const id = await execute(organization, agent, input);
    await running.getByRole('link', { name: 'writer' }).waitFor();
    await running.getByText('1 of 50', { exact: true }).waitFor();
    const runs = page.getByRole('region', { name: 'Latest runs' });
    await runs.getByText('running').waitFor();
    const subject = runs.getByRole('cell').filter({ has: page.getByRole('link', { name: input, exact: true }) });
    for (const width of [screens.desktop.width, 768]) {
      await page.setViewportSize({ ...screens.desktop, width });
      expect(await subject.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    }
    await model.asked(1);
    model.answer();
    await endOf(organization, agent, id);
    await runs.getByText('completed').waitFor();
    await running.getByText('No agent is running.').waitFor();
    // The model and its two gates use 12 tokens each.
    await page.getByRole('region', { name: 'Runs today' }).getByText('0 failed, 36 tokens').waitFor();
    await runs.getByTitle(id).click();
    await page.getByRole('region', { name: 'Output' }).getByText('It is done.').waitFor();
  });

  it('begins with the tasks that wait for a review, and opens them', async () => {
    const organization = await newOrganization('reviewing');
    const create = async (title: string, status: string) =>
      successOf(await organization.api.createTask({ body: { title, status } }));
    await create('Not begun', 'backlog');
    const { page } = await consoles.open({ token: organization.token });
    const part = page.getByRole('region', { name: 'Waiting for review' });
    await part.getByText('No task waits for a review.').waitFor();
    const regions = page.locator('.overview').getByRole('region');
    expect(await regions.first().getAttribute('aria-label')).toBe('Waiting for review');
    for (let nth = 1; nth <= 4; nth++) await create(`Reviewed by QA ${nth}`, 'qa_review');
    for (let nth = 1; nth <= 3; nth++) await create(`Finished ${nth}`, 'up_for_review');
    await part.getByText('7', { exact: true }).waitFor();
    const titles = ['Finished 3', 'Finished 2', 'Finished 1', 'Reviewed by QA 4', 'Reviewed by QA 3'];
    await expect.poll(() => part.getByRole('link').allInnerTexts()).toEqual(titles);
    expect(await accessibilityProblems(page)).toEqual([]);
    // The titles have room beside the number on a tablet too.
    await page.setViewportSize({ width: 768, height: 1024 });
    const box = await part.getByRole('link', { name: 'Reviewed by QA 4' }).boundingBox();
    expect(box?.width).toBeGreaterThan(100);
    await part.getByRole('link', { name: 'Reviewed by QA 4' }).click();
    await page.getByRole('dialog', { name: 'Reviewed by QA 4' }).waitFor();
  });

  it('names the receivers that fail, fits on a phone, and is accessible', async () => {
    const organization = await newOrganization('failing');
    const url = 'http://127.0.0.1:9/a-long-path/to-a-receiver/that-does-not-respond';
    const webhook = await register(organization, { url, events: ['task.created'] });
    await createTask(organization, 'Notes');
    await attemptsOf(organization, webhook, 1);
    const { page } = await consoles.open({ token: organization.token }, { viewport: screens.phone });
    const tile = page.getByRole('region', { name: 'Failing receivers' });
    await tile.getByText('1', { exact: true }).waitFor();
    expect(await page.evaluate('document.querySelector("main").scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.setViewportSize(screens.desktop);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityProblems(page)).toEqual([]);
    await tile.getByRole('link', { name: url }).click();
    await page.waitForURL(`**/#/webhooks/${webhook}`);
  });
});
