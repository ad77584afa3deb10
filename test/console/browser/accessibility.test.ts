import { describe, expect, it } from 'vitest';
import { accessibilityProblems } from './axe.ts';
import { program, useConsole } from './console.ts';
import { createViews, environmentOfViews, showView } from './views.ts';

describe.runIf(program)('the accessibility of the console', () => {
  const consoles = useConsole({ environment: environmentOfViews() });

  it('is without a fault on every screen and in every dialog, light and dark', { timeout: 600_000 }, async () => {
    const views = await createViews(consoles.service());
    const { page } = await consoles.open();
    for (const view of views) {
      await page.emulateMedia({ colorScheme: 'light' });
      await showView(page, consoles.service(), view);
      expect(await accessibilityProblems(page), `${view.name}, light`).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      // The theme changes colours only.
      expect(await accessibilityProblems(page, ['color-contrast']), `${view.name}, dark`).toEqual([]);
    }
  });
});
