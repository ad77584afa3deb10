import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { findChromium } from '../../docs-page/chromium.ts';
import { type Deployment, type Options, startDeployment } from '../../journeys/deployment.ts';

/** The path of Chromium; without one, the tests of the console are skipped. */
export const program = findChromium(process.env);

/** The sizes of the screens that the console is tested on. */
export const screens = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

/** Opens the menu of the account, which has the theme and the sign-out. */
export const openAccount = (page: Page) => page.getByRole('button', { name: /^Organization / }).click();

/** An open console: its page, and the problems that the browser reported. */
export type Console = { page: Page; problems: string[] };

/**
 * Starts a service and a browser for the tests of a `describe` block. After each test, no console that it opened may have
 * reported an error, violated its Content-Security-Policy or sent a request to another origin.
 *
 * @param options the options of the service
 */
export function useConsole(options: Options = {}) {
  let browser: Browser;
  let service: Deployment;
  const opened: Console[] = [];

  beforeAll(async () => {
    [service, browser] = await Promise.all([
      startDeployment(options),
      chromium.launch({ executablePath: program as string, args: ['--no-sandbox'] }),
    ]);
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    const problems = opened.flatMap((one) => one.problems);
    for (const { page } of opened.splice(0)) await page.context().close();
    expect(problems).toEqual([]);
  });

  return {
    service: () => service,

    /** Opens the page in a context of its own, like another user, signed in unless `token` is `undefined`. */
    open: async (
      { token, path = '/' }: { token?: string | undefined; path?: string } = { token: service.token },
      options: BrowserContextOptions = { viewport: screens.desktop },
    ): Promise<Console> => {
      // Without a locale, the headless shell takes the locale of the machine, which may be none that a page can use.
      const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce', ...options });
      const page = await context.newPage();
      const one: Console = { page, problems: [] };
      opened.push(one);
      // A violation of the policy is also an error on the console of the browser.
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') one.problems.push(message.text());
      });
      page.on('pageerror', (error) => one.problems.push(String(error)));
      page.on('request', (request) => {
        if (new URL(request.url()).origin !== service.url) one.problems.push(`a request to ${request.url()}`);
      });
      await page.goto(token === undefined ? `${service.url}/` : `${service.url}/#token=${token}`);
      if (token !== undefined) {
        await page.getByRole('navigation').waitFor();
        if (path !== '/') await page.goto(`${service.url}/#${path}`);
      }
      return one;
    },
  };
}
