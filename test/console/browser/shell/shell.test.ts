import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { newToken } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { openAccount, program, screens, useConsole } from '../console.ts';

const eventLog = '**/api/webhooks/events?*';

describe.runIf(program)('the frame of the console', () => {
  const consoles = useConsole();

  it('offers only the screens for which the token has the scopes', async () => {
    const { page } = await consoles.open();
    const links = page.getByRole('navigation').getByRole('link');
    expect(await links.allInnerTexts()).toEqual([
      ...['Overview', 'Board', 'Runs', 'Agents', 'Webhooks', 'Events', 'API reference'],
    ]);
    const token = await newToken(consoles.service(), 'local', '--scopes', 'tasks:read');
    const { page: another } = await consoles.open({ token });
    expect(await another.getByRole('navigation').getByRole('link').allInnerTexts()).toEqual([
      ...['Overview', 'Board', 'API reference'],
    ]);
  });

  it('opens each screen by its link, and says that a screen does not exist', async () => {
    const { page } = await consoles.open();
    const names = ['Board', 'Runs', 'Agents', 'Webhooks', 'Events', 'Overview'];
    // Also in the other direction: each screen finds what the others have read.
    for (const name of [...names, ...names.toReversed()]) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
    }
    await page.goto(`${consoles.service().url}/#/nowhere`);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  });

  it('shows all entries of the navigation on a phone', async () => {
    const { token } = consoles.service();
    const { page } = await consoles.open({ token, path: '/events' }, { viewport: screens.phone });
    const links = page.getByRole('navigation', { name: 'Screens' }).getByRole('link');
    await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
    const boxes = await Promise.all((await links.all()).map((link) => link.boundingBox()));
    expect(boxes.length).toBe(7);
    for (const box of boxes) {
      expect(box?.y).toBe(boxes[0]?.y);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(screens.phone.width);
    }
  });

  it('sends one request every two seconds for all that is live, and none while it is hidden', async () => {
    const { page } = await consoles.open();
    await page.clock.install();
    // Recorded in the page, by its clock, which this test moves: this process gets the events of requests later.
    await page.addInitScript(`
      window.sentAt = [];
      window.answered = 0;
      const send = window.fetch;
      window.fetch = (input, ...rest) => {
        const response = send(input, ...rest);
        if (String(input.url ?? input).includes('/api/webhooks/events')) {
          window.sentAt.push(Date.now());
          const count = () => window.answered++;
          response.then(count, count);
        }
        return response;
      };
    `);
    const sentAt = () => page.evaluate<number[]>('window.sentAt');
    const areAnswered = () => page.evaluate<boolean>('window.answered > 0 && window.answered === window.sentAt.length');
    await page.reload();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.clock.pauseAt(Date.now() + 3_600_000);
    await expect.poll(areAnswered).toBe(true);
    const before = (await sentAt()).length;
    for (let nth = 1; nth <= 4; nth++) {
      for (let turn = 0; turn < 100 && (await sentAt()).length < before + nth; turn++) await page.clock.runFor(100);
      await expect.poll(areAnswered).toBe(true);
    }
    // The jump of the clock may have ended a request that was under way, which is then repeated between two others.
    const [, second = 0, third = 0, fourth = 0, ...more] = (await sentAt()).slice(before);
    expect(more).toEqual([]);
    for (const interval of [third - second, fourth - third]) {
      expect(interval).toBeGreaterThanOrEqual(2_000);
      expect(interval).toBeLessThan(10_000);
    }
    await page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
      document.dispatchEvent(new Event('visibilitychange'));
    `);
    await page.clock.runFor(60_000);
    expect(await sentAt()).toHaveLength(before + 4);
  });

  it('continues after an event that was published late, whose id is older than its position', async () => {
    const { page } = await consoles.open();
    const [next, later] = ['ev_01K9Z3T6V0QW8E5R7T9Y1AB2CD', 'ev_01K9Z3T6V1QW8E5R7T9Y1AB2CD'];
    const task = { id: 'tk_01K9Z3T6V0QW8E5R7T9Y1AB2CD', title: 'Late', status: 'backlog' };
    const occurredAt = '2026-03-01T12:00:00.000Z';
    const late = { id: 'ev_01JA0000000000000000000000', event: 'task.created', occurredAt, data: { task, occurredAt } };
    const positions: (string | null)[] = [];
    await page.route(`${eventLog}after=*`, (route) => {
      positions.push(new URL(route.request().url()).searchParams.get('after'));
      const isFirst = positions.length === 1;
      const pagination = { limit: 100, next: isFirst ? next : later };
      return route.fulfill({ json: { success: true, data: isFirst ? [late] : [], pagination } });
    });
    await expect.poll(() => positions.length).toBeGreaterThanOrEqual(3);
    expect(positions.slice(1, 3)).toEqual([next, later]);
  });

  it('says that the screen is not updated, and reads again on demand', async () => {
    const one = await consoles.open();
    const updated = one.page.locator('.live').getByText(/^Updated /);
    await updated.waitFor();
    await one.page.route(eventLog, (route) => route.fulfill({ status: 500, body: 'broken' }));
    await one.page.getByText('Not updated').waitFor();
    await one.page.unroute(eventLog);
    await one.page.getByRole('button', { name: 'Try now' }).click();
    await updated.waitFor();
    // The browser reports each error response.
    expect(new Set(one.problems.splice(0))).toEqual(new Set([expect.stringContaining('500')]));
  });

  it.each(['desktop', 'phone'] as const)('has a light and a dark theme, which last (%s)', async (size) => {
    const { page } = await consoles.open(undefined, { viewport: screens[size] });
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    await openAccount(page);
    await page.getByLabel('Theme').selectOption('light');
    const light = await background();
    await page.getByLabel('Theme').selectOption('dark');
    const dark = await background();
    expect(dark).not.toBe(light);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByLabel('Theme').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Organization local' }).and(page.locator(':focus')).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(await background()).toBe(dark);
  });

  it('copies the request of a screen as a command that runs with the token in a variable', async () => {
    const { api, token, url } = consoles.service();
    await api.createTask({ body: { title: 'Copied', assignedAgent: 'qa-reviewer' } });
    const { page } = await consoles.open({ token, path: '/board?agent=qa-reviewer' });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
    // Until the board is loaded, the overview shows the title too.
    await page.getByRole('heading', { level: 1, name: 'Board' }).waitFor();
    await page.getByText('Copied', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('The command is copied').waitFor();
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(command).not.toContain(token);
    const output = execFileSync('sh', ['-c', command], {
      env: { ...process.env, CREWBOARD_TOKEN: token },
      encoding: 'utf8',
    });
    expect(JSON.parse(output)).toMatchObject({ success: true, data: [{ title: 'Copied' }] });
  });

  it.each([
    '#%',
    '#/%',
    '#/agents/%E0%A4%A',
    '#/runs/%/%',
    '#/board?project=%&priority=constructor',
    '#/agents/qa-reviewer?tab=constructor&period=__proto__',
    '#/events?since=garbage',
    '#/events?since=%2B275760-09-13T00:00:00Z',
  ])('shows a screen for the address %s', async (fragment) => {
    const one = await consoles.open(undefined, { viewport: screens.desktop, timezoneId: 'Asia/Tokyo' });
    await one.page.goto('about:blank');
    await one.page.goto(`${consoles.service().url}/${fragment}`);
    await one.page.locator('main').getByRole('heading').first().waitFor();
    // Values that the API does not accept are said to be wrong on the screen.
    expect(one.problems.splice(0).filter((problem) => !problem.includes('400'))).toEqual([]);
  });

  it('works in a browser that does not let pages store anything', async () => {
    const { page } = await consoles.open({ token: undefined });
    await page.addInitScript(`
      for (const area of ['localStorage', 'sessionStorage'])
        Object.defineProperty(window, area, { get() { throw new DOMException('denied', 'SecurityError'); } });
    `);
    await page.goto('about:blank');
    await page.goto(`${consoles.service().url}/#token=${consoles.service().token}`);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  it.each([
    ['a screen', 'fetch = async () => Response.json({ success: true, data: null })'],
    ['the console', "Object.defineProperty(history, 'state', { get() { throw new Error('broken'); } })"],
  ])('shows an error instead of a blank page if %s cannot be shown', async (_, script) => {
    const one = await consoles.open({ token: undefined });
    await one.page.addInitScript(script);
    await one.page.goto('about:blank');
    await one.page.goto(`${consoles.service().url}/#token=${consoles.service().token}`);
    await one.page.getByRole('alert').getByRole('button', { name: 'Retry' }).waitFor();
    // The browser reports the error too.
    expect(one.problems.splice(0)).not.toEqual([]);
  });
});
