import { describe, expect, it } from 'vitest';
import { program, useConsole } from './console.ts';

describe.runIf(program)('the console', () => {
  const consoles = useConsole();

  it('shows nothing but the sign-in page without a token, and signs in with a pasted one', async () => {
    const { page } = await consoles.open({ token: undefined });
    await page.getByRole('heading', { name: 'Crewboard' }).waitFor();
    expect(await page.getByRole('navigation').count()).toBe(0);
    await page.getByLabel('Access token').fill(` ${consoles.service().token}\n`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).not.toContain('crew_');
  });

  it('signs in by a link with the token, which leaves the address bar and lasts for the tab', async () => {
    const { page } = await consoles.open();
    expect(page.url()).not.toContain('token');
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
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
});
