import { describe, expect, it } from 'vitest';
import { startHeldModel } from '../../../journeys/executions/held-model.ts';
import { createAgent, createTask, endOf, execute, newToken } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, screens, useConsole } from '../console.ts';
import { tabTo } from '../keyboard.ts';
import { scrollingTables } from '../scrolling-tables.ts';

describe.runIf(program)('the runs of the console', async () => {
  const model = await startHeldModel();
  const consoles = useConsole({ environment: model.environment });
  let asked = 0;

  /** Starts an execution of an agent with tools, and returns its id once the model has its request. */
  async function run(agent: string, input: string, more: object = {}): Promise<string> {
    const id = await execute(consoles.service(), agent, input, more);
    await model.asked(++asked);
    return id;
  }

  /** Creates an agent whose steps are stored when they start, which only steps of agents with tools are. */
  const createAgentWithTools = (name: string) =>
    createAgent(consoles.service(), name, { systemPrompt: 'Write notes.', capabilities: ['tasks.read'] });

  async function finish(agent: string, id: string): Promise<void> {
    model.answer();
    await endOf(consoles.service(), agent, id);
  }

  it('lists executions with an exact total, adds new ones, and keeps its filters in the URL', async () => {
    const agent = await createAgentWithTools('lister');
    const ended = await run(agent, 'First');
    await finish(agent, ended);
    const { page } = await consoles.open({ token: consoles.service().token, path: `/runs?agent=${agent}` });
    const rows = page.getByRole('table', { name: 'Runs' }).getByRole('row');
    await page.getByText('1 run', { exact: true }).waitFor();
    const taskId = await createTask(consoles.service(), 'Notes');
    const running = await run(agent, 'Second', { taskId });
    await page.getByText('2 runs', { exact: true }).waitFor();
    expect(await rows.nth(1).textContent()).toContain('running');
    expect(await rows.nth(2).textContent()).toContain('completed');
    await rows.nth(1).getByRole('link', { name: 'Notes', exact: true }).waitFor();
    await rows.nth(2).getByRole('link', { name: 'First', exact: true }).waitFor();

    await page.getByLabel('Status').selectOption('Running');
    await page.getByText('1 run', { exact: true }).waitFor();
    expect(page.url()).toContain('status=running');
    await page.getByTitle(running).waitFor();
    await page.reload();
    await page.getByText('1 run', { exact: true }).waitFor();
    await page.getByLabel('Agent').selectOption('qa-reviewer');
    await page.getByText('No runs match these filters').waitFor();
    await page.getByRole('link', { name: 'Show all runs' }).click();
    await page.waitForURL('**/#/runs');
    await rows.nth(1).getByText('running').waitFor();
    await finish(agent, running);
    await rows.nth(1).getByText('completed').waitFor();
    await rows.nth(1).getByRole('img', { name: 'Self-test passed' }).waitFor();
    // The model and its two gates use 12 tokens each.
    await rows.nth(1).locator('td', { hasText: /^36$/ }).waitFor();
  });

  it('says what an execution is about, as text in one line, without titles that the token may not read', async () => {
    const agent = await createAgentWithTools('subjects');
    const hostile = '<img src=x onerror="document.title=1">';
    const taskId = await createTask(consoles.service(), `${hostile} ${'long '.repeat(30)}`);
    const input = `\n\n${hostile}\n${'wide'.repeat(100)}`;
    const bare = await run(agent, input);
    await finish(agent, bare);
    const onTask = await run(agent, `Work on ${hostile}`, { taskId });
    await finish(agent, onTask);
    const blank = await run(agent, `${' '.repeat(200)}late`);
    await finish(agent, blank);
    const { page } = await consoles.open({ token: consoles.service().token, path: `/runs?agent=${agent}` });
    const subjectOf = (id: string) => page.locator('.row-link').and(page.getByTitle(id));
    for (const viewport of [screens.desktop, screens.phone]) {
      await page.setViewportSize(viewport);
      await subjectOf(onTask).getByText(`${hostile} long`).waitFor();
      await subjectOf(bare).getByText(`${hostile} wide`).waitFor();
      expect(await page.evaluate(scrollingTables)).toBe(0);
      // Between two reads of the list, the row can be drawn again.
      const heightOf = async () => (await subjectOf(bare).boundingBox())?.height ?? Number.POSITIVE_INFINITY;
      await expect.poll(heightOf).toBeLessThan(24);
    }
    await subjectOf(blank)
      .getByText(`ex…${blank.slice(-6)}`)
      .waitFor();
    expect(await page.locator('main img').count()).toBe(0);

    const token = await newToken(consoles.service(), 'local', '--scopes', 'agents:read');
    const other = await consoles.open({ token, path: `/runs?agent=${agent}` });
    await other.page.getByTitle(onTask).getByText(`Work on ${hostile}`).waitFor();
  });

  it('has the new title of a task that was renamed on the board', async () => {
    const agent = await createAgentWithTools('renamer');
    const taskId = await createTask(consoles.service(), 'Old title');
    await finish(agent, await run(agent, 'Rename', { taskId }));
    const { page } = await consoles.open({ token: consoles.service().token, path: `/runs?agent=${agent}` });
    const runs = page.getByRole('table', { name: 'Runs', exact: true });
    await runs.getByRole('link', { name: 'Old title' }).waitFor();
    await page.goto(`${consoles.service().url}/#/board?task=${taskId}`);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('New title');
    await page.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('heading', { name: 'New title' }).waitFor();
    await page.goto(`${consoles.service().url}/#/runs?agent=${agent}`);
    await runs.getByRole('link', { name: 'New title' }).waitFor();
  });

  it('shows what the model and the gates received, once a person opens it', async () => {
    const agent = await createAgentWithTools('receiver');
    const taskId = await createTask(consoles.service(), 'Landing page');
    const input = `Review <img src=x onerror="document.title=1"> ${'é'.repeat(3_000)}`;
    const id = await run(agent, input, { taskId, context: { tone: 'calm' } });
    await finish(agent, id);
    const { page } = await consoles.open();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('include=messages')) asked.push(request.url());
    });
    await page.goto(`${consoles.service().url}/#/runs/${agent}/${id}`);
    const [model, , review] = [0, 1, 2].map((nth) => page.locator('.step').nth(nth));
    for (const step of [model, review]) await step?.locator('> summary').click();
    await model?.getByText('It is done.').waitFor();
    expect([await page.locator('.step').getByText('Landing page').count(), asked]).toEqual([0, []]);

    for (const step of [model, review]) await step?.getByText('What the model received').click();
    await model?.getByText('<task>\nLanding page\n</task>').waitFor();
    await model?.getByText('"tone": "calm"').waitFor();
    await model?.getByText('Message, part 3 of 3: the start of 3,063 characters').waitFor();
    await review?.getByText('<work>\nIt is done.\n</work>').waitFor();
    expect(asked).toHaveLength(1);
    expect(await page.locator('main img').count()).toBe(0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await accessibilityProblems(page)).toEqual([]);
    }
    await page.setViewportSize(screens.phone);
    expect(await page.evaluate('document.querySelector("main").scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await review?.getByRole('link', { name: /^sha256:/ }).click();
    await page.waitForURL('**/#/agents/qa-reviewer?tab=versions');
  });

  it('loads more executions on request', async () => {
    const agent = await createAgentWithTools('pager');
    for (const input of ['One', 'Two', 'Three']) await finish(agent, await run(agent, input));
    const { page } = await consoles.open();
    // The real pages have 50 executions.
    await page.route('**/api/agents/executions?*limit=50*', (route) =>
      route.continue({ url: route.request().url().replace('limit=50', 'limit=2') }),
    );
    await page.goto(`${consoles.service().url}/#/runs?agent=${agent}`);
    await page.getByText('3 runs', { exact: true }).waitFor();
    expect(await page.locator('.row-link').count()).toBe(2);
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.locator('.row-link').nth(2).waitFor();
    expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
  });

  it('follows a running execution to its output, its gates and its prompt', async () => {
    const agent = await createAgentWithTools('follower');
    const hostile = 'Write <img src=x onerror="document.title=1"> notes';
    const id = await run(agent, hostile);
    const { page } = await consoles.open();
    // Without events: no step has one, so the screen may not depend on them.
    await page.route('**/api/webhooks/events?*', (route) =>
      route.fulfill({ json: { success: true, data: [], pagination: { limit: 100, next: null } } }),
    );
    await page.goto(`${consoles.service().url}/#/runs`);
    await page.getByTitle(id).click();
    const first = page.locator('.step').first();
    await first.getByText('running').waitFor();
    await finish(agent, id);
    await page.getByRole('region', { name: 'Output' }).getByText('It is done.').waitFor();
    await page.locator('.gate').nth(1).getByText('Good.', { exact: true }).waitFor();
    expect(await page.locator('.step').count()).toBe(3);

    await first.locator('> summary').click();
    await first.getByText('It is done.').waitFor();
    await page.getByRole('region', { name: 'Input' }).getByText(hostile).waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const raw = page.getByRole('button', { name: 'Raw output' });
    const output = page.getByRole('region', { name: 'Output' });
    expect([await raw.getAttribute('aria-pressed'), await output.locator('pre').count()]).toEqual(['false', 0]);
    await raw.click();
    await output.locator('pre').getByText('It is done.').waitFor();
    await page.getByRole('button', { name: 'Copy output' }).click();
    await page.getByText('Output: the text is copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('It is done.');
    await page.getByRole('link', { name: /^sha256:/ }).click();
    await page.locator('.tab.current', { hasText: 'Versions' }).waitFor();
  });

  it('cancels an execution after a confirmation, by keyboard only', async () => {
    const agent = await createAgentWithTools('stopper');
    const id = await run(agent, 'Take long');
    const { page } = await consoles.open({ token: consoles.service().token, path: '/runs' });
    await tabTo(page.getByTitle(id));
    await page.keyboard.press('Enter');
    await tabTo(page.getByRole('button', { name: 'Cancel', exact: true }));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Cancel this run?' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await tabTo(dialog.getByRole('button', { name: 'Cancel the run' }));
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('A request cancelled it, or the execution that delegated it.').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel', exact: true }).count()).toBe(0);
    // The step that was under way has no duration, as one that runs.
    expect(await page.locator('.step').first().textContent()).not.toContain('running');
    model.answer();
  });

  it('says that a running execution waits for its model, and why it failed', async () => {
    const agent = await createAgentWithTools('waiter');
    const id = await run(agent, 'Wait');
    const { page } = await consoles.open({ token: consoles.service().token, path: `/runs/${agent}/${id}` });
    const waiting = page.getByText('Waiting for the model, which is overloaded or has too many requests.');
    await page.locator('.step').first().getByText('running').waitFor();
    expect(await waiting.count()).toBe(0);
    model.throttle();
    await waiting.waitFor();
    await consoles.service().api.cancelExecution({ params: { name: agent, id } });
    const { error, errorReason } = await endOf(consoles.service(), agent, id);
    expect(errorReason).not.toBe(error);
    await page
      .getByRole('alert')
      .getByText(errorReason as string, { exact: true })
      .waitFor();
    await waiting.waitFor({ state: 'detached' });
    model.answer();
  });

  it('runs an execution again, also with a changed input, and goes to the new one', async () => {
    const agent = await createAgentWithTools('repeater');
    const taskId = await createTask(consoles.service(), 'Repeat');
    const context = { tone: 'calm', audience: { new: true } };
    const id = await run(agent, 'Again', { taskId, context });
    await finish(agent, id);
    const { page } = await consoles.open({ token: consoles.service().token, path: `/runs/${agent}/${id}` });
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.waitForURL((url) => url.hash.startsWith(`#/runs/${agent}/`) && !url.hash.endsWith(id));
    await model.asked(++asked);
    await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor();
    model.answer();
    await page.getByRole('region', { name: 'Output' }).getByText('It is done.').waitFor();

    await page.getByRole('link', { name: 'Change and run' }).click();
    const input = page.getByRole('textbox', { name: 'Input' });
    await expect.poll(() => input.inputValue()).toBe('Again');
    await input.fill('Again, but shorter');
    await page.getByRole('checkbox', { name: `On the task ${taskId} again` }).waitFor();
    const contextField = page.getByRole('textbox', { name: 'Context' });
    expect(JSON.parse(await contextField.inputValue())).toEqual(context);
    await contextField.fill('{"tone": "calm"');
    await contextField.press('Control+Enter');
    await page.getByText(/^This is not JSON: /).waitFor();
    expect(await contextField.getAttribute('aria-invalid')).toBe('true');
    expect(await accessibilityProblems(page)).toEqual([]);
    await contextField.fill(JSON.stringify({ ...context, tone: 'loud' }));
    expect(await page.getByText(/^This is not JSON: /).count()).toBe(0);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await model.asked(++asked);
    model.answer();
    await page.getByRole('link', { name: 'Open the run' }).click();
    await page.getByRole('region', { name: 'Context' }).getByText('"tone": "loud"').waitFor();
    await page.getByRole('region', { name: 'Input' }).getByText('Again, but shorter').waitFor();
    await page.locator('.fact-bar').getByTitle(taskId).getByText('Repeat').waitFor();
  });

  it('has no buttons that the token may not use', async () => {
    const agent = await createAgentWithTools('reader');
    const taskId = await createTask(consoles.service(), 'Read it');
    const id = await run(agent, 'Read', { taskId });
    const token = await newToken(consoles.service(), 'local', '--scopes', 'agents:read');
    const { page } = await consoles.open({ token, path: `/runs/${agent}/${id}` });
    await page.getByRole('heading', { name: 'Quality gates' }).waitFor();
    expect(await page.locator('button, a', { hasText: /Cancel|Run again|Change and run/ }).count()).toBe(0);
    // The token may not read the title of the task.
    const task = page.locator('.fact-bar').getByTitle(taskId);
    expect(await task.textContent()).toBe(taskId);
    expect(await task.evaluate((link) => link.scrollWidth - link.clientWidth)).toBe(0);
    await finish(agent, id);
  });

  it('says that an execution does not exist, and offers a retry', async () => {
    const path = '/runs/absent/ex_01K9Z3T6V0QW8E5R7T9Y1AB2CD';
    const { page, problems } = await consoles.open({ token: consoles.service().token, path });
    await page.getByRole('alert').getByRole('button', { name: 'Retry' }).waitFor();
    // The browser reports each 404 as an error.
    expect(problems.splice(0)).toEqual([expect.stringContaining('404')]);
  });

  it('fits on a phone and is accessible', async () => {
    const agent = await createAgentWithTools('phone');
    const id = await run(agent, `A long ${'input '.repeat(400)}`);
    await finish(agent, id);
    const { page } = await consoles.open(
      { token: consoles.service().token, path: '/runs' },
      { viewport: screens.phone },
    );
    const overhang = () => page.evaluate('document.querySelector("main").scrollWidth - innerWidth');
    await page.getByTitle(id).waitFor();
    expect(await overhang()).toBeLessThanOrEqual(0);
    expect(await page.evaluate(scrollingTables)).toBe(0);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByTitle(id).click();
    await page.locator('.step').first().click();
    await page.getByRole('region', { name: 'Output' }).waitFor();
    expect(await overhang()).toBeLessThanOrEqual(0);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.setViewportSize(screens.desktop);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});
