import type { Locator } from 'playwright-core';
import { expect } from 'vitest';

/** The maximum number of key presses to reach an element of a screen. */
const mostPresses = 60;

/** Presses Tab until an element has the focus. */
export async function tabTo(element: Locator): Promise<void> {
  await element.waitFor();
  const hasFocus = () => element.evaluate((one) => one === one.ownerDocument.activeElement);
  for (let presses = 0; presses < mostPresses; presses++) {
    if (await hasFocus()) return;
    await element.page().keyboard.press('Tab');
  }
  expect(await hasFocus(), 'Tab reaches the element').toBe(true);
}
