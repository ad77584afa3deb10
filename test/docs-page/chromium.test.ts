import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTemporaryFolder } from '../temporary-files.ts';
import { findChromium } from './chromium.ts';

const folder = createTemporaryFolder();
/** A program of this name in a folder of the test's. */
function program(name: string): string {
  const path = join(folder, name);
  writeFileSync(path, '');
  chmodSync(path, 0o755);
  return path;
}

it('finds no browser where there is none', () => {
  for (const PATH of [undefined, '', folder, `:${folder}:`]) expect(findChromium({ PATH })).toBeUndefined();
});

it('takes a usual name on the PATH, but rather what CHROMIUM names', () => {
  const [usual, own] = [program('chromium-browser'), program('my-own')];
  expect(findChromium({ PATH: `/nowhere:${folder}` })).toBe(usual);
  expect(findChromium({ PATH: folder, CHROMIUM: own })).toBe(own);
});

it('says so where CHROMIUM names no program', () => {
  expect(() => findChromium({ CHROMIUM: '/nowhere/chromium' })).toThrow('CHROMIUM is /nowhere/chromium');
});
