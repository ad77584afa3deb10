import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** The script of axe-core. The policy of the page blocks script elements, so it is evaluated. */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Returns what axe-core finds wrong on a page: each rule with the elements that violate it.
 *
 * @param rules the rules to check; all if unset
 */
export async function accessibilityProblems(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) })})`,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}
