import { describe, expect, it } from 'vitest';
import { newToken } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { openAccount, program, screens, useConsole } from '../console.ts';

describe.runIf(program)('the console', () => {
  const consoles = useConsole();

  it('shows nothing but the sign-in page without a token, and signs in with a pasted one', async () => {
    const { page } = await consoles.open({ token: undefined });
    await page.getByRole('heading', { name: 'Crewboard' }).waitFor();
    expect(await page.getByRole('navigation').count()).toBe(0);
    await page.getByLabel('Access token').fill(` ${consoles.service().token}\n`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(page.url()).not.toContain('crew_');
  });

  it('signs in by a link with the token, which leaves the address bar and lasts for the tab', async () => {
    const { page } = await consoles.open();
    expect(page.url()).not.toContain('token');
    await page.reload();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await openAccount(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Access token').waitFor();
    await page.reload();
    await page.getByLabel('Access token').waitFor();
  });

  it('says why a token is not accepted', async () => {
    const one = await consoles.open({ token: undefined });
    for (const wrong of ['crew_wrong', 'two words']) {
      await one.page.getByLabel('Access token').fill(wrong);
      await one.page.getByRole('button', { name: 'Sign in' }).click();
      await one.page.getByRole('alert').waitFor();
    }
    // The browser reports each 401 as an error.
    expect(one.problems.splice(0)).toEqual([expect.stringContaining('401')]);
  });

  it.each(['light', 'dark'] as const)(
    'asks before a link replaces the session, and keeps it by default (%s)',
    async (colorScheme) => {
      const { token, url } = consoles.service();
      const other = await newToken(consoles.service(), 'elsewhere', '--name', '<b>theirs</b>');
      const { page } = await consoles.open(
        { token, path: '/board?project=proj_kept' },
        { viewport: screens.phone, colorScheme },
      );
      const account = (organization: string) => page.getByTitle(`Organization ${organization}`);
      const stored = () => page.evaluate<string>("sessionStorage.getItem('crewboard.token')");
      await page.getByRole('heading', { level: 1, name: 'Board' }).waitFor();

      await page.goto(`${url}/#token=${other}`);
      const question = page.getByRole('dialog', { name: 'Replace your access token?' });
      await question.getByText('elsewhere').waitFor();
      // Neither the address nor the screen is another one, and the name is shown as text.
      expect(page.url()).toBe(`${url}/#/board?project=proj_kept`);
      await question.getByText('(<b>theirs</b>)').waitFor();
      await question.getByText('local', { exact: true }).waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await question.getByRole('button', { name: 'Keep my token' }).and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Escape');
      await question.waitFor({ state: 'detached' });
      expect(await stored()).toBe(token);
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Board');

      // In a new page of the tab, too.
      await page.goto('about:blank');
      await page.goto(`${url}/#token=${other}`);
      await question.waitFor();
      expect(page.url()).toBe(`${url}/`);
      await account('local').waitFor({ state: 'attached' });
      await page.keyboard.press('Enter');
      await question.waitFor({ state: 'detached' });
      expect(await stored()).toBe(token);

      await page.goto(`${url}/#token=${other}`);
      await question.getByRole('button', { name: 'Replace the token' }).click();
      await account('elsewhere').waitFor({ state: 'attached' });
      expect(await stored()).toBe(other);
      await page.goBack();
      expect(page.url()).not.toContain('token');
    },
  );

  it('does not ask about the token that it has', async () => {
    const { token, url } = consoles.service();
    const { page } = await consoles.open({ token, path: '/board' });
    await page.getByRole('heading', { level: 1, name: 'Board' }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/api/me')) asked.push(request.url());
    });
    await page.goto(`${url}/#token=${token}`);
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    expect(page.url()).toBe(`${url}/#/runs`);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(asked).toEqual([]);
  });

  it.each(['#token=', '#token=%', '#token=two%20words'])(
    'says that %s has no token, with and without a session',
    async (fragment) => {
      const { token, url } = consoles.service();
      const { page } = await consoles.open({ token: undefined });
      for (const load of [false, true]) {
        // Without a session, in a page that is open, then in a new one.
        if (load) await page.goto('about:blank');
        await page.goto(`${url}/${fragment}`);
        await page.getByRole('alert').getByText('The link has no access token.').waitFor();
        await page.getByLabel('Access token').waitFor();
        expect(page.url()).toBe(`${url}/`);
      }
      const { page: signedIn } = await consoles.open({ token, path: '/board' });
      await signedIn.goto(`${url}/${fragment}`);
      await signedIn.getByText('You are signed in as before. The link has no access token.').waitFor();
      await signedIn.getByRole('heading', { level: 1, name: 'Board' }).waitFor();
      expect(signedIn.url()).toBe(`${url}/#/board`);
    },
  );

  it('stays signed in if the service does not accept the token of a link', async () => {
    const { token, url } = consoles.service();
    const one = await consoles.open({ token, path: '/board' });
    await one.page.goto(`${url}/#token=crew_wrong`);
    await one.page.getByText('You are signed in as before. The link does not sign in: ').waitFor();
    await one.page.getByRole('heading', { level: 1, name: 'Board' }).waitFor();
    expect(await one.page.getByRole('dialog').count()).toBe(0);
    expect(one.problems.splice(0)).toEqual([expect.stringContaining('401')]);
  });

  it('signs in by a link at once if the stored token is no longer valid', async () => {
    const { token, url } = consoles.service();
    const one = await consoles.open({ token: undefined });
    await one.page.evaluate("sessionStorage.setItem('crewboard.token', '%E0 two words')");
    await one.page.goto('about:blank');
    await one.page.goto(`${url}/#token=${token}`);
    await one.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });
});
