import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { dataFiles } from '../../../../infra/local/data-folder.ts';
import { tableName } from '../../../../infra/local/running.ts';
import { openLocalTable } from '../../../../infra/local/table/local-table.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import { taskStatuses } from '../../../../lib/contract/tasks/tasks.ts';
import { newFolder } from '../../../journeys/deployment.ts';
import { bareTasks, seed } from '../../../table/tasks/seed.ts';
import { program, useConsole } from '../console.ts';

/** The number of tasks on the board. */
const taskCount = 100_000;

/** The number of tasks at each end of the board that have an item, and not only rows in the lists. The test shows no other. */
const readCount = 6_000;

/**
 * Writes the tasks to a data folder, as their creations would have written them. Each status has the same number. The
 * lists and counters have all tasks.
 */
async function writeTasks(dataFolder: string): Promise<void> {
  // Without changes of any kind to publish: tasks were never created here.
  const { table, close } = openLocalTable({ path: join(dataFolder, dataFiles.table), tableName, kinds: [] });
  const tasks = bareTasks(taskCount, (nth) => Date.UTC(2026, 0, 1) + nth * 1_000, Math.random);
  const spread = tasks.map((task, nth) => ({
    ...task,
    status: taskStatuses[nth % 6] as (typeof taskStatuses)[number],
  }));
  const ends = new Set([...spread.slice(0, readCount), ...spread.slice(-readCount)]);
  await seed(table, 'local' as Organization, spread, (task) => ends.has(task));
  await close();
}

/** The number of frames for which a column is scrolled. */
const frameCount = 240;

/** Returns the CPU time of the main thread of a page so far, in milliseconds. */
async function cpuMsOf(devtools: CDPSession): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics');
  return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
}

/** Scrolls a column by whole cards at each frame for a number of frames, and returns the times between frames. */
const scrollAndTime = (page: Page, frames: number): Promise<number[]> =>
  page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector('.column-cards');
    const times = [];
    let last;
    const frame = (now) => {
      if (last !== undefined) times.push(now - last);
      last = now;
      list.scrollTop += 150;
      if (times.length < ${frames}) requestAnimationFrame(frame);
      else resolve(times);
    };
    requestAnimationFrame(frame);
  })`);

/** Returns when a page first showed content, and for how long its scripts blocked it since then, in milliseconds. */
const readPaint = (page: Page): Promise<{ firstPaintMs: number; blockedMs: number }> =>
  page.evaluate(`new Promise((resolve) => {
    const [{ startTime: firstPaintMs }] = performance.getEntriesByName('first-contentful-paint');
    const read = (list) => {
      const tasks = list.getEntries().filter(({ startTime }) => startTime >= firstPaintMs);
      // What is over 50 ms of a task counts, as in Lighthouse.
      resolve({ firstPaintMs, blockedMs: tasks.reduce((sum, { duration }) => sum + duration - 50, 0) });
    };
    new PerformanceObserver(read).observe({ type: 'longtask', buffered: true });
    // There is no call without an entry.
    setTimeout(() => resolve({ firstPaintMs, blockedMs: 0 }), 1_000);
  })`);

describe.runIf(program)(`a board with ${taskCount.toLocaleString('en')} tasks`, () => {
  const dataFolder = newFolder();
  beforeAll(() => writeTasks(dataFolder));
  const consoles = useConsole({ dataFolder });

  it('has few cards in the document, and shows any place of a column', async () => {
    const { page } = await consoles.open({ token: consoles.service().token, path: '/board' });
    const column = page.getByRole('region', { name: 'Backlog' });
    await column.waitFor();
    const started = performance.now();
    await page.reload();
    await page.locator('[data-status=done] .card a').first().waitFor();
    const shownMs = performance.now() - started;
    const { firstPaintMs, blockedMs } = await readPaint(page);
    const inColumn = Math.ceil(taskCount / 6).toLocaleString('en');
    await column.getByRole('heading', { name: `Backlog ${inColumn}` }).waitFor();

    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
    const cpuMsBefore = await cpuMsOf(devtools);
    const frames = (await scrollAndTime(page, frameCount)).sort((a, b) => a - b);
    const cpuMs = ((await cpuMsOf(devtools)) - cpuMsBefore) / frameCount;
    expect(await page.locator('.card').count()).toBeLessThan(200);

    // The oldest task is at the end of the column.
    await column.locator('.column-cards').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    const jumped = performance.now();
    await column.getByRole('link', { name: 'Task 0', exact: true }).waitFor();
    const jumpMs = performance.now() - jumped;
    expect(await page.locator('.card').count()).toBeLessThan(200);

    // Figures for people. They depend on the load of the machine, except for the CPU time.
    console.log(
      [
        `First content after ${firstPaintMs.toFixed(0)} ms, then blocked for ${blockedMs.toFixed(0)} ms.`,
        `The board shows its cards ${shownMs.toFixed(0)} ms after a reload, and the end of a column after ${jumpMs.toFixed(0)} ms.`,
        `While a column scrolls, a frame takes ${frames[frameCount / 2]?.toFixed(0)} ms (median), ${frames.at(-1)?.toFixed(0)} ms (longest),`,
        `and ${cpuMs.toFixed(1)} ms of CPU time. ${frames.filter((one) => one > 100).length} of ${frameCount} frames take over 100 ms.`,
      ].join('\n'),
    );
  });
});
