import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { chromium } from 'playwright-core';
import { expect, it } from 'vitest';
import type { TaskDetail } from '../../lib/contract/tasks/tasks.ts';
import { dataOf, successOf } from '../api.ts';
import { findChromium } from '../docs-page/chromium.ts';
import { until } from '../journeys/deployment.ts';
import { type LoopbackServer, startLoopbackServer } from '../servers/loopback.ts';
import { createDeployedOrganization } from './deployed.ts';

const program = findChromium(process.env);

/** Serves a deployed service at the root of a URL, as API Gateway does: the emulator has it below a path. */
function startProxy(service: string): Promise<LoopbackServer> {
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host, connection, 'content-length': length, ...headers } = request.headers;
    const { method = 'GET', url = '/' } = request;
    const body = method === 'GET' ? undefined : await buffer(request);
    const answer = await fetch(service + url, {
      method,
      headers: headers as Record<string, string>,
      body: body ?? null,
    });
    response.statusCode = answer.status;
    // `fetch` has unzipped the body.
    for (const [name, value] of answer.headers)
      if (!/^(content-encoding|content-length|transfer-encoding|connection)$/.test(name))
        response.setHeader(name, value);
    response.end(Buffer.from(await answer.arrayBuffer()));
  }
  return startLoopbackServer((request, response) => void pass(request, response).catch(() => response.destroy()));
}

/** Defines the tests of the console: its page, its files, and a change in a browser. */
export function testConsole(): void {
  it('the console has all its files, which browsers keep', async () => {
    const { url } = await createDeployedOrganization('console-files');
    const page = await fetch(`${url}/`);
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      200,
      expect.stringContaining("default-src 'none'"),
    ]);
    const files = [...(await page.text()).matchAll(/="(\/assets\/[^"]*)"/g)].map(([, file]) => file);
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) {
      const answer = await fetch(url + file);
      expect([file, answer.status, answer.headers.get('cache-control')]).toEqual([
        file,
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect((await answer.text()).length, file).toBeGreaterThan(0);
    }
  });

  it.runIf(program)('the console signs in and moves a task', async () => {
    const { api, url, token } = await createDeployedOrganization('console');
    const { id } = successOf(await api.createTask({ body: { title: 'Draw it' } }));
    const proxy = await startProxy(url);
    const browser = await chromium.launch({ executablePath: program as string, args: ['--no-sandbox'] });
    try {
      const page = await browser.newPage();
      await page.goto(`${proxy.url}/#token=${token}`);
      await page.getByRole('navigation').getByRole('link', { name: 'Board' }).click();
      await page.getByRole('button', { name: /^Move .*Draw it/ }).click();
      await page.getByRole('menuitem', { name: /done/i }).click();
      const status = async () => dataOf<TaskDetail>(await api.getTask({ params: { id } })).status;
      await until('the task is done', async () => (await status()) === 'done');
    } finally {
      await browser.close();
      await proxy.close();
    }
  });
}
