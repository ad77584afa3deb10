import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { TestResult } from '../../../lib/contract/webhooks/webhooks.ts';
import { successOf } from '../../api.ts';
import { createAgent, createTask, endOf, execute, readTask } from '../../journeys/requests.ts';
import { program, screens, useConsole } from './console.ts';

const touch = { viewport: screens.phone, hasTouch: true, isMobile: true };

/** The lowest height of what can be tapped, in pixels. */
const lowestTarget = 32;

/**
 * Returns the elements that can be tapped in an area that is too low, with its height. What is behind a dialog is left
 * out, as are links in sentences.
 */
const lowTargets = (page: Page) =>
  page.evaluate<string[]>(`
    [...document.querySelectorAll('a, button, select, input, textarea, summary, [role=menuitem], label:has(input)')]
      .filter((one) => !one.matches('.skip, [type=checkbox], p:not(.load-more, .live, .notice) a'))
      .flatMap((one) => {
        one.scrollIntoView({ block: 'center', inline: 'center' });
        const { left, top, width, height } = one.getBoundingClientRect();
        const isHit = (y) => one.contains(document.elementFromPoint(left + Math.min(width, 60) / 2, y));
        const middle = top + height / 2;
        if (!isHit(middle)) return [];
        let [from, to] = [middle, middle];
        while (isHit(from - 1) && middle - from < 100) from--;
        while (isHit(to + 1) && to - middle < 100) to++;
        return to - from + 1 < ${lowestTarget} ? [one.outerHTML.slice(0, 120) + ': ' + (to - from + 1)] : [];
      })
  `);

describe.runIf(program)('the console under fingers', () => {
  const consoles = useConsole();

  it('scrolls the board, opens a card, and moves it by its menu', async () => {
    const { api, token } = consoles.service();
    const tasks: string[] = [];
    for (let nth = 0; nth < 20; nth++)
      tasks.push(successOf<{ id: string }>(await api.createTask({ body: { title: `Task ${nth}.` } })).id);
    const { page } = await consoles.open({ token, path: '/board' }, touch);
    const backlog = page.getByRole('region', { name: 'Backlog' });
    await backlog.getByText('Task 19.').waitFor();
    const browser = await page.context().newCDPSession(page);
    /** Moves a finger over the board in steps, from its middle. */
    const swipe = async (x: number, y: number) => {
      const touchPoints = (step: number) => [{ x: 195 + (x * step) / 10, y: 500 + (y * step) / 10 }];
      await browser.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: touchPoints(0) });
      for (let step = 1; step <= 10; step++)
        await browser.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: touchPoints(step) });
      await browser.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    };
    /** Swipes until a list has scrolled as expected: how far a swipe scrolls depends on its speed. */
    const expectScrolled = (list: Locator, side: 'scrollTop' | 'scrollLeft', x: number, y: number) =>
      expect.poll(async () => {
        await swipe(x, y);
        return list.evaluate((element, name) => element[name], side);
      });
    const cards = backlog.locator('.column-cards');
    const columns = page.locator('.columns');
    await expectScrolled(cards, 'scrollTop', 0, -300).toBeGreaterThan(100);
    await expectScrolled(columns, 'scrollLeft', -180, 0).toBeGreaterThan(100);
    await expectScrolled(columns, 'scrollLeft', 180, 0).toBe(0);
    await expectScrolled(cards, 'scrollTop', 0, 320).toBe(0);

    const card = backlog.locator('.card').filter({ hasText: 'Task 19.' });
    await card.tap();
    await page.getByRole('dialog', { name: 'Task 19.' }).getByRole('button', { name: 'Close' }).tap();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await card.getByRole('button', { name: /^Move/ }).tap();
    await page.getByRole('menuitem', { name: 'Move to Assigned' }).tap();
    await page.getByRole('region', { name: 'Assigned' }).getByText('Task 19.').waitFor();
    await expect.poll(async () => (await readTask(consoles.service(), tasks.at(-1) ?? '')).status).toBe('assigned');
  });

  it('has targets that are high enough, and dialogs that fit the screen and scroll', async () => {
    const { api, token, url } = consoles.service();
    const agent = await createAgent(consoles.service(), 'tapped', { capabilities: ['tasks.read', 'a label'] });
    const first = await createTask(consoles.service(), 'First');
    const body = { title: 'Second', dependsOn: [first], assignedAgent: agent };
    const { id: task } = successOf<{ id: string }>(await api.createTask({ body }));
    const execution = await execute(consoles.service(), agent, 'Say hello.', { taskId: first });
    await endOf(consoles.service(), agent, execution);
    successOf(await api.updateTask({ params: { id: first }, body: { status: 'qa_review' } }));
    successOf(await api.commentOnTask({ params: { id: first }, body: { text: 'A comment' } }));
    const registration = { url: 'http://127.0.0.1:9/', events: ['task.created'], secret: 's'.repeat(32) };
    const { id: webhook } = successOf<{ id: string }>(await api.registerWebhook({ body: registration }));
    const { deliveryId } = successOf<TestResult>(
      await api.testWebhook({ params: { id: webhook }, body: { event: 'task.created' } }),
    );
    await createTask(consoles.service(), 'An event of the webhook');
    const claimed = await createTask(consoles.service(), 'Claimed');
    successOf(await api.claimTask({ params: { id: claimed }, body: { worker: 'laptop '.repeat(14) } }));
    const { page } = await consoles.open({ token }, touch);
    const button = (name: string) => page.getByRole('button', { name });
    /** Opens a screen, and on it a dialog, if there is one. */
    const visit = async (path: string, ready: string, ...taps: string[]) => {
      await page.goto(`${url}/#${path}`);
      await page.locator(ready).first().waitFor();
      for (const name of taps) await button(name).or(page.getByRole('menuitem', { name })).first().tap();
      if (taps.length > 0) {
        const box = await page.getByRole('dialog').last().boundingBox();
        expect(box?.x, path).toBeGreaterThanOrEqual(0);
        expect((box?.x ?? 0) + (box?.width ?? 0), path).toBeLessThanOrEqual(screens.phone.width);
        expect((box?.y ?? 0) + (box?.height ?? 0), path).toBeLessThanOrEqual(screens.phone.height);
        const last = page.getByRole('dialog').last().getByRole('button').last();
        await last.scrollIntoViewIfNeeded();
        await last.tap({ trial: true });
      }
      expect.soft(await lowTargets(page), `${path} ${taps}`).toEqual([]);
      for (const _ of taps) await page.keyboard.press('Escape');
    };
    await visit('/', '.latest a');
    await visit('/board', '.card');
    await page.locator('.card button').first().tap();
    await page.getByRole('menuitem', { name: 'Select' }).tap();
    await button('Delete…').waitFor();
    expect.soft(await lowTargets(page), 'the bar of the selection').toEqual([]);
    await button('Clear').tap();
    await visit('/board', '.card', 'Create a task');
    await visit(`/board?task=${task}`, '.graph');
    await visit(`/board?task=${task}`, '.graph', 'Edit');
    await visit(`/board?task=${task}`, '.graph', 'More actions', 'Delete…');
    await visit(`/board?task=${claimed}`, '.task-claim');
    await visit(`/board?task=${first}`, '.comment');
    await visit(`/board?task=${first}`, '.comment', 'Change the comment', 'Delete');
    await visit('/runs', '.row-link');
    await visit(`/runs/${agent}/${execution}`, '.step');
    await visit('/agents', 'td');
    await visit('/agents', 'td', 'Create agent');
    for (const tab of ['overview', 'prompt', 'versions', 'skills', 'try', 'improvements'])
      await visit(`/agents/${agent}?tab=${tab}`, '.tabs ~ :not(.skeleton)');
    await visit('/webhooks', '.webhook-rows a');
    await visit('/webhooks', '.webhook-rows a', 'Register a webhook');
    await visit(`/webhooks/${webhook}`, 'td');
    await visit(`/webhooks/${webhook}`, 'td', 'More actions', 'Recover since…');
    await visit(`/webhooks/${webhook}/deliveries/${deliveryId}`, '.attempt');
    await visit('/events', '.event-head');
  });
});
