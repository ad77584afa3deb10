import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { ImprovementPass } from '../../../../lib/contract/agents/improvements.ts';
import { dataOf, successOf } from '../../../api.ts';
import { until } from '../../../journeys/deployment.ts';
import { accessibilityProblems } from '../axe.ts';
import { openAccount, program, useConsole } from '../console.ts';

describe.runIf(program)('the activity of an agent', () => {
  const consoles = useConsole();

  const createAgent = async (name: string) =>
    successOf(await consoles.service().api.createAgent({ body: { name, displayName: name, category: 'development' } }));
  const open = (name: string, tab: string) =>
    consoles.open({ token: consoles.service().token, path: `/agents/${name}?tab=${tab}` });

  /** Runs an agent, and waits until the execution has ended. */
  const runOnce = async (name: string) => {
    const { api } = consoles.service();
    const { executionId: id } = successOf<{ executionId: string }>(
      await api.executeAgent({ params: { name }, body: { input: 'Say hello.' } }),
    );
    await until('the execution has ended', async () => {
      const { status } = dataOf<{ status: string }>(await api.getExecution({ params: { name, id } }));
      return status !== 'running';
    });
    return id;
  };

  it('tries an agent, and shows the result with a link to the run', async () => {
    await createAgent('tried');
    const { page } = await open('tried', 'try');
    await page.getByLabel('Input').fill('Say hello.');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('completed').waitFor();
    await result.getByText(/\(simulated\)$/).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await result.getByRole('link', { name: 'Open the run' }).click();
    await page.waitForURL(/#\/runs\/tried\/ex_/);
  });

  it('assigns and unassigns a skill of the catalogue', async () => {
    await createAgent('skilled');
    const skills = async () =>
      successOf<{ name: string }[]>(await consoles.service().api.listSkills({ params: { name: 'skilled' } })).map(
        ({ name }) => name,
      );
    const { page } = await open('skilled', 'skills');
    await page.getByRole('button', { name: 'Assign code-review' }).click();
    const unassign = page.getByRole('button', { name: 'Unassign code-review' });
    await unassign.waitFor();
    expect(await skills()).toEqual(['code-review']);
    expect(await accessibilityProblems(page)).toEqual([]);
    await unassign.click();
    await page.getByText('The agent has no skills.').waitFor();
    expect(await skills()).toEqual([]);
  });

  /** Gives the day before the newest one of the metrics the numbers of the newest. */
  const repeatDay = (page: Page) =>
    page.route('**/metrics?*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { data: { series: { date: string }[] } };
      const { series } = body.data;
      series.splice(-2, 1, { ...series.at(-1), date: series.at(-2)?.date ?? '' });
      await route.fulfill({ response, json: body });
    });

  it('shows charts of the days, with their numbers as tables, for the chosen period', async () => {
    await createAgent('measured');
    await runOnce('measured');
    const { page } = await open('measured', 'overview');
    const runs = page.getByRole('figure').filter({ hasText: 'Runs a day' });
    // One day has a number, no chart.
    await runs.getByText('only on').waitFor();
    expect(await runs.getByRole('definition').allInnerTexts()).toEqual(['1', '0']);
    expect(await page.locator('main canvas').count()).toBe(0);
    expect(await accessibilityProblems(page)).toEqual([]);
    await repeatDay(page);
    await page.reload();
    await runs.getByText('Show the numbers').click();
    await expect.poll(() => runs.getByRole('row').count()).toBe(31);
    expect(await runs.getByRole('row').nth(1).locator('td').nth(1).textContent()).toBe('1');
    await page.getByRole('link', { name: 'Last 7 days' }).click();
    await expect.poll(() => runs.getByRole('row').count()).toBe(8);
    expect(await page.locator('main canvas').count()).toBe(3);
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it('draws the charts again in the colours of the chosen theme', async () => {
    await createAgent('themed');
    await runOnce('themed');
    const { page } = await open('themed', 'overview');
    await repeatDay(page);
    await page.reload();
    const picture = () => page.evaluate<string>('document.querySelector("main canvas").toDataURL()');
    await page.locator('main canvas').first().waitFor();
    const light = await picture();
    await openAccount(page);
    await page.getByLabel('Theme').selectOption('dark');
    await expect.poll(picture).not.toBe(light);
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it('starts a pass of self-improvement after a warning about its cost, and lists it', async () => {
    await createAgent('improved');
    await runOnce('improved');
    const { page } = await open('improved', 'improvements');
    await page.getByRole('heading', { name: 'No improvements yet' }).waitFor();
    await page.getByRole('button', { name: 'Improve now' }).click();
    const dialog = page.getByRole('dialog', { name: 'Improve the prompt?' });
    await dialog.getByText(/60 model calls/).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Start the pass' }).click();
    await dialog.getByText('The prompt stays. There is nothing to learn').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByText('Close', { exact: true }).click();

    // A focus makes the pass ask the model, and only passes that did so are listed.
    await page.getByRole('button', { name: 'Improve now' }).click();
    await dialog.getByLabel(/focuses on/).fill('brevity');
    await dialog.getByRole('button', { name: 'Start the pass' }).click();
    await dialog.getByText(/could not be read as a proposal/).waitFor();
    await dialog.getByText('Close', { exact: true }).click();
    await page.getByText('1 pass', { exact: true }).waitFor();
    await page.getByText('No proposal').waitFor();
  });

  it('shows the proof of a pass: proposal, answers and votes, as text', async () => {
    await createAgent('proven');
    const { page } = await open('proven', 'overview');
    await page.route('**/improvements?*', (route) =>
      route.fulfill({ json: { success: true, data: [pass], pagination: { limit: 25, offset: 0, total: 1 } } }),
    );
    await page.getByRole('link', { name: 'Improvements' }).click();
    await page.getByText('37 for the new prompt, 2 for the previous one, 1 for none').waitFor();
    await page.locator('ins', { hasText: '<b>Answer with the page alone.</b>' }).waitFor();
    await page.getByText('Draw <i>a page</i>').first().click();
    await page.getByText('Votes: new, new, previous, none').waitFor();
    await page.getByText('Here is the page: <p>').waitFor();
    await page.getByText('the model did not answer').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});

const hash = `sha256:${'a'.repeat(64)}`;

/** A pass as the API returns it. The simulator proposes nothing, so the service of the test has no such pass. */
const pass: ImprovementPass = {
  id: `im_${'0'.repeat(26)}`,
  decision: 'adopted',
  improved: true,
  changesSummary: 'Asks for the page alone.',
  previousPromptHash: hash,
  newPromptHash: hash,
  tokensUsed: 64_210,
  startedAt: '2026-11-14T09:00:00.000Z',
  durationMs: 17_400,
  proposal: { summary: 'Asks for the page alone.', append: '<b>Answer with the page alone.</b>' },
  votes: { new: 37, previous: 2, none: 1 },
  chance: 0.001,
  trials: [
    {
      executionId: `ex_${'0'.repeat(26)}`,
      heldOut: true,
      input: 'Draw <i>a page</i>',
      previousAnswer: 'Here is the page: <p>',
      newError: 'the model did not answer',
      votes: ['new', 'new', 'previous', 'none'],
    },
  ],
};
