import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, startDeployment } from '../journeys/deployment.ts';
import { type LoopbackServer, startLoopbackServer } from '../servers/loopback.ts';
import { findChromium } from './chromium.ts';

const program = findChromium(process.env);
const emptyPage = '<!doctype html><title>An app</title><link rel="icon" href="data:,">';

/** What a page can read of a response. */
type Read = { status: number; etag: string | null; body: unknown };

describe.runIf(program)('a web page of another origin', () => {
  let browser: Browser;
  let service: Deployment;
  let site: LoopbackServer;
  let page: Page;

  beforeAll(async () => {
    service = await startDeployment();
    browser = await chromium.launch({ executablePath: program as string });
    page = await browser.newPage();
    site = await startLoopbackServer((_, response) => {
      response.setHeader('Content-Type', 'text/html').end(emptyPage);
    });
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  /** Sends a request from the page, with the token. */
  function send(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Read> {
    const request = {
      method,
      headers: { Authorization: `Bearer ${service.token}`, 'Content-Type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    };
    return page.evaluate(
      async ({ url, request }) => {
        const response = await fetch(url, request);
        return { status: response.status, etag: response.headers.get('ETag'), body: await response.json() };
      },
      { url: service.url + path, request },
    );
  }

  it.each(['localhost', '127.0.0.1'])('at another port of %s can create, read and change a task', async (host) => {
    await page.goto(`http://${host}:${site.port}/`);
    const created = await send('POST', '/api/kanban-tasks', { title: 'From a page' }, { 'Idempotency-Key': host });
    expect(created).toMatchObject({ status: 201, body: { success: true, data: { title: 'From a page' } } });
    const { id } = (created.body as { data: { id: string } }).data;
    const { etag } = await send('GET', `/api/kanban-tasks/${id}`);
    expect(etag).toMatch(/^".+"$/);
    const changed = await send('PATCH', `/api/kanban-tasks/${id}`, { status: 'done' }, { 'If-Match': etag as string });
    expect(changed).toMatchObject({ status: 200, body: { data: { id, status: 'done' } } });
  });

  it('at another port of localhost can read an error', async () => {
    await page.goto(`http://localhost:${site.port}/`);
    const answer = await send('POST', '/api/kanban-tasks', { titel: 'Wrong' });
    expect(answer).toMatchObject({ status: 400, body: { success: false, error: { code: 'validation_failed' } } });
  });

  it('at another host cannot read the API', async () => {
    await page.route('http://elsewhere.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: emptyPage }),
    );
    await page.goto('http://elsewhere.example/');
    await expect(send('GET', '/api/kanban-tasks')).rejects.toThrow('Failed to fetch');
  });
});
