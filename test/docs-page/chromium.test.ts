import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTemporaryFolder } from '../temporary-files.ts';
import { findChromium } from './chromium.ts';

const folder = createTemporaryFolder();
/** Creates a program with this name in a temporary folder. */
function program(name: string): string {
  const path = join(folder, name);
  writeFileSync(path, '');
  chmodSync(path, 0o755);
  return path;
}

it('returns undefined if there is no browser', () => {
  for (const PATH of [undefined, '', folder, `:${folder}:`]) expect(findChromium({ PATH })).toBeUndefined();
});

it('finds a usual name on the PATH, and prefers the program in CHROMIUM', () => {
  const [usual, own] = [program('chromium-browser'), program('my-own')];
  expect(findChromium({ PATH: `/nowhere:${folder}` })).toBe(usual);
  expect(findChromium({ PATH: folder, CHROMIUM: own })).toBe(own);
});

it('throws if CHROMIUM is not a program', () => {
  expect(() => findChromium({ CHROMIUM: '/nowhere/chromium' })).toThrow('CHROMIUM is /nowhere/chromium');
});
