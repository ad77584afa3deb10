import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delivery, secret } from '../docs/examples/posted.ts';
import { findChromium } from '../docs-page/chromium.ts';
import { type Deployment, startDeployment } from '../journeys/deployment.ts';
import { type LoopbackServer, startLoopbackServer } from '../servers/loopback.ts';
import { bundleConsumer } from './bundle.ts';
import type * as Consumer from './consumer.ts';

// The name that the bundled program has on the page.
declare const consumer: typeof Consumer;

const program = findChromium(process.env);
if (!program)
  console.warn(
    'The tests of the client in a browser are skipped because there is no Chromium; install it, or set CHROMIUM to its path.',
  );

describe.runIf(program)('on a web page', () => {
  let service: Deployment;
  let site: LoopbackServer;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    service = await startDeployment();
    const script = await bundleConsumer();
    site = await startLoopbackServer(({ url }, response) => {
      if (url === '/consumer.js') response.setHeader('Content-Type', 'text/javascript').end(script);
      else response.setHeader('Content-Type', 'text/html').end('<script src="/consumer.js"></script>');
    });
    browser = await chromium.launch({ executablePath: program as string });
    page = await browser.newPage();
    await page.goto(site.url);
  });

  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  it('a program calls the service, which has another port', async () => {
    const seen = await page.evaluate(
      ([url = '', token = '']) => consumer.useService(url, token, 'on-page'),
      [service.url, service.token],
    );
    expect(seen).toEqual({
      titles: ['Build it', 'Draw it'],
      statuses: expect.arrayContaining(['completed']),
      output: expect.stringContaining('Build it.'),
      missing: 'not_found',
    });
    expect(await page.evaluate(() => consumer.reach('http://127.0.0.1:1'))).toBe('no_response');
  });

  it('deliveries are verified', async () => {
    const { body, headers } = delivery({ event: 'task.created' });
    const textOf = (key: string) =>
      page.evaluate(
        async ({ key, ...init }) => {
          const request = new Request('https://receiver.example', { method: 'POST', ...init });
          return (await consumer.receive(request, key)).text();
        },
        { key, body, headers },
      );
    expect(await textOf(secret)).toBe('A sample task');
    expect(await textOf('another secret')).toBe('wrong_signature');
  });
});
