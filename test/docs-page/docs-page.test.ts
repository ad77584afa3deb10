import { type Browser, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Task } from '../../lib/contract/tasks/tasks.ts';
import { dataOf } from '../api.ts';
import { type Deployment, startDeployment } from '../journeys/deployment.ts';
import { findChromium } from './chromium.ts';
import { openDocs, type Reader, screens } from './reader.ts';

type Document = { paths: Record<string, Record<string, { summary: string }>> };

const program = findChromium(process.env);
if (!program)
  console.warn(
    'The tests of the documentation page are skipped because there is no Chromium; install it, or set CHROMIUM to its path.',
  );

const tasks = '/api/kanban-tasks';

/** The console message of the browser for each 401 response, which is not an error of the page. */
const unauthorized = 'Failed to load resource: the server responded with a status of 401 (Unauthorized)';

describe.runIf(program)('the documentation page', () => {
  let browser: Browser;
  let service: Deployment;

  beforeAll(async () => {
    service = await startDeployment();
    browser = await chromium.launch({ executablePath: program as string });
  });
  afterAll(() => browser?.close());

  async function summaryOf(method: string, path: string): Promise<string> {
    const document = (await service.api.openapi()).body as unknown as Document;
    return document.paths[path]?.[method]?.summary as string;
  }

  describe.each(Object.entries(screens))('on a %s', (screen, viewport) => {
    let reader: Reader;
    let expectedErrors: string[];

    beforeEach(async () => {
      expectedErrors = [];
      reader = await openDocs(await browser.newContext({ viewport }), service.url);
    });

    afterEach(async () => {
      const { requests, errors } = reader.noted;
      await reader.page.context().close();
      expect(requests.slice(0, 3).map(({ pathname }) => pathname)).toEqual([
        '/docs',
        '/docs/script.js',
        '/openapi.json',
      ]);
      expect(requests.filter(({ origin }) => origin !== service.url)).toEqual([]);
      expect(errors).toEqual(expectedErrors);
    });

    it('finds operations by summary or path and shows them, and is never wider than the screen', async () => {
      await reader.page.keyboard.press('End');
      expect(await reader.overhang()).toBe(0);
      for (const [method, path, by] of [
        ['post', tasks, 'its summary'],
        ['post', '/api/agents/{name}/self-improve', 'its summary'],
        ['get', '/api/webhooks/{id}/deliveries', 'its path'],
      ] as const) {
        const summary = await summaryOf(method, path);
        await reader.search(by === 'its path' ? path : summary);
        await reader.choose(summary);
        expect(await reader.overhang()).toBe(0);
        await reader.openClient(method, path);
        await reader.closeClient();
      }
    });

    it('creates a task with a token, and shows the 201', async () => {
      const title = `Created on a ${screen}`;
      await reader.enterToken(service.token);
      await reader.search(tasks);
      await reader.choose(await summaryOf('post', tasks));
      await reader.openClient('post', tasks);
      await reader.writeBody({ title, priority: 'high' });
      await reader.send('201 Created');
      expect(await reader.shownBody()).toContain(`"${title}"`);
      expect(await reader.overhang()).toBe(0);
      const listed = dataOf<Task[]>(await service.api.listTasks());
      expect(listed.filter((task) => task.title === title)).toMatchObject([{ title, priority: 'high' }]);
    });

    it('does not store a token: it is gone after a reload, and a request shows the 401', async () => {
      expectedErrors = [unauthorized];
      await reader.enterToken(service.token);
      await reader.search(tasks);
      await reader.choose(await summaryOf('get', tasks));
      await reader.openClient('get', tasks);
      await reader.send('200 OK');
      expect(await reader.stored()).not.toContain(service.token);
      await reader.page.reload();
      await reader.search(tasks);
      await reader.choose(await summaryOf('get', tasks));
      await reader.openClient('get', tasks);
      await reader.send('401 Unauthorized');
      expect(await reader.shownBody()).toContain('"unauthorized"');
    });
  });
});
