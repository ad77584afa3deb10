import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('the style sheets of the console have the font sizes of one scale of five', () => {
  const sizes = new Set<string>();
  for (const path of globSync('lib/console/styles/*.css'))
    for (const [, size = ''] of readFileSync(path, 'utf8').matchAll(/(?<![\w-])font(?:-size)?:\s*([^;]*)/g))
      sizes.add(size);
  const tokens = [...sizes].map((size) => /^var\((--font-size(?:-[a-z]+)?)\)/.exec(size)?.[1] ?? size);
  expect([...new Set(tokens)].toSorted()).toEqual([
    '--font-size',
    '--font-size-large',
    '--font-size-medium',
    '--font-size-number',
    '--font-size-small',
    'inherit',
  ]);
});
