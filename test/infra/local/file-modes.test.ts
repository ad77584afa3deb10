import { chmodSync, mkdirSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { closeToOthers } from '../../../infra/local/file-modes.ts';
import { createTemporaryFolder } from '../../temporary-files.ts';

const root = createTemporaryFolder();
const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);
const isOwn = (name: string) => name.startsWith('own');

/** Creates a folder that everyone can read, with files that everyone can read; returns their paths. */
function openFolder(mode: number, ...names: string[]): [folder: string, ...files: string[]] {
  const folder = mkdtempSync(join(root, 'open-'));
  chmodSync(folder, mode);
  const files = names.map((name) => join(folder, name));
  for (const file of files) {
    writeFileSync(file, 'text');
    chmodSync(file, 0o644);
  }
  return [folder, ...files];
}

const warning = (...open: string[]) =>
  `Other users of this machine may have access to ${open.join(' and ')}; set the modes with chmod, or set CREWBOARD_DATA to a folder of its own.`;

it.each([
  [0o755, '700'],
  [0o777, '700'],
  [0o700, '700'],
])('takes the rights of others on a folder of mode %i and its files', (mode, closed) => {
  const [folder, ...files] = openFolder(mode, 'own', 'own.log');
  expect(closeToOthers(folder, isOwn)).toBeUndefined();
  expect([folder, ...files].map(modeOf)).toEqual([closed, '600', '600']);
});

it.each([
  ['with a file of another program', 0o755, ['other'], 'it has files of other programs'],
  ['that many users share', 0o1777, [], 'many users share it'],
])('closes the files of the service in a folder %s, changes nothing else, and says so', (_, mode, names, reason) => {
  const [folder, own = '', ...others] = openFolder(mode, 'own', ...names);
  expect(closeToOthers(folder, isOwn)).toBe(warning(`${folder} (${reason})`));
  expect(modeOf(own)).toBe('600');
  expect([folder, ...others].map(modeOf)).toEqual([mode.toString(8), ...others.map(() => '644')]);
});

it('says nothing about a closed folder with a file of another program', () => {
  const [folder, , other = ''] = openFolder(0o700, 'own', 'other');
  expect(closeToOthers(folder, isOwn)).toBeUndefined();
  expect(modeOf(other)).toBe('644');
});

it('follows no symbolic link, and reports links to what others can use', () => {
  const [elsewhere, target = ''] = openFolder(0o755, 'target');
  const [folder] = openFolder(0o755);
  const [toOpen, toClosed, toNothing] = ['own-open', 'own-closed', 'own-nothing'].map((name) => join(folder, name));
  const closed = join(elsewhere, 'closed');
  writeFileSync(closed, '', { mode: 0o600 });
  symlinkSync(target, toOpen as string);
  symlinkSync(closed, toClosed as string);
  symlinkSync(join(elsewhere, 'nothing'), toNothing as string);
  expect(closeToOthers(folder, isOwn)).toBe(warning(`${toOpen} (it is a symbolic link)`));
  expect([folder, target].map(modeOf)).toEqual(['700', '644']);
  const link = join(root, 'link');
  symlinkSync(elsewhere, link);
  expect(closeToOthers(link, isOwn)).toBe(warning(`${link} (it is a symbolic link)`));
  expect(modeOf(elsewhere)).toBe('755');
});

it('changes nothing inside a folder of its folder', () => {
  const [folder] = openFolder(0o755);
  const inner = join(folder, 'own-folder');
  mkdirSync(inner);
  writeFileSync(join(inner, 'own'), '');
  chmodSync(join(inner, 'own'), 0o644);
  closeToOthers(folder, isOwn);
  expect(modeOf(join(inner, 'own'))).toBe('644');
});

it('reports what the system does not let it change, and what cannot be read', () => {
  // Linux rejects every change of a mode below /proc.
  expect(closeToOthers('/proc/self/task', () => true)).toMatch(
    /^Other users .* \/proc\/self\/task \(EPERM: .*\) and .*; set the modes with chmod, or set CREWBOARD_DATA .*\.$/,
  );
  const gone = join(root, 'gone');
  expect(closeToOthers(gone, isOwn)).toMatch(/^Other users .*gone \(ENOENT: .*\); set the modes/);
});
