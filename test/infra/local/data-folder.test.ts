import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { closeDataFolder, dataPath, openDataFolder, readData, writeData } from '../../../infra/local/data-folder.ts';
import { Problem } from '../../../infra/local/problem.ts';
import { createTemporaryFolder } from '../../temporary-files.ts';

const root = createTemporaryFolder();
const newFolder = () => mkdtempSync(join(root, 'data-'));
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** Starts a process that opens a folder and runs a line of JavaScript with it. `opened` resolves when the folder is open. */
function openElsewhere(folder: string, line: string) {
  const module = JSON.stringify(resolve('infra/local/data-folder.ts'));
  const script = `import { openDataFolder, writeData } from ${module};
    const data = openDataFolder(${JSON.stringify(folder)});
    console.log('open');
    ${line}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const opened = new Promise((done) => child.stdout.once('data', done));
  const ended = new Promise((done) => child.once('exit', done));
  const kill = () => {
    child.kill('SIGKILL');
    return ended;
  };
  return { opened, kill };
}

it('creates the folder and its parents, for the owner only', () => {
  const folder = join(newFolder(), 'deep', 'er');
  const data = openDataFolder(folder);
  expect(modeOf(folder)).toBe('700');
  expect(dataPath(data, 'token')).toBe(join(folder, 'token'));
  closeDataFolder(data);
});

it('writes files for the owner only, and reads them', () => {
  const data = openDataFolder(newFolder());
  expect(readData(data, 'token')).toBe(undefined);
  writeData(data, 'token', 'one\n');
  writeData(data, 'token', 'two\n');
  expect([readData(data, 'token'), modeOf(dataPath(data, 'token'))]).toEqual(['two\n', '600']);
  closeDataFolder(data);
});

it('leaves the complete old or new text when the process is killed during a write', async () => {
  const folder = newFolder();
  for (let round = 0; round < 5; round++) {
    const writer = openElsewhere(
      folder,
      "for (let at = 0; ; at++) writeData(data, 'big', String.fromCharCode(97 + (at % 26)).repeat(1_000_000));",
    );
    await writer.opened;
    const path = join(folder, 'big');
    const isWritten = () => existsSync(path);
    while (!isWritten()) await new Promise((done) => setImmediate(done));
    for (let look = 0; look < 20; look++) expect(readFileSync(path, 'utf8')).toMatch(/^([a-z])\1{999999}$/);
    await writer.kill();
    expect(readFileSync(path, 'utf8')).toMatch(/^([a-z])\1{999999}$/);
  }
});

it.each([
  ['/dev/null/x', () => '/dev/null/x'],
  ['a path in /proc', () => '/proc/crewboard/x'],
  ['a regular file', () => join(newFolder(), 'file')],
  ['a path below a regular file', () => join(newFolder(), 'file', 'x')],
])('reports in one sentence that it cannot write %s', (_, path) => {
  const folder = path();
  const [, file] = /^(.*\/file)/.exec(folder) ?? [];
  if (file) writeFileSync(file, '');
  const open = () => openDataFolder(folder);
  expect(open).toThrow(Problem);
  expect(open).toThrow(/^The data folder \S+ cannot be written \([^\n]+\); set CREWBOARD_DATA to a writable folder\.$/);
  expect(open).toThrow(folder);
});

it('can be opened by one process at a time; another gets an error of one sentence', async () => {
  const folder = newFolder();
  const holder = openElsewhere(folder, 'setInterval(() => {}, 1000);');
  await holder.opened;
  const sentence = `Another Crewboard is running on the data folder ${folder}; stop it, or set CREWBOARD_DATA to another folder.`;
  expect(() => openDataFolder(folder)).toThrow(new Problem(sentence));
  await holder.kill();
  closeDataFolder(openDataFolder(folder));
});

it('can be opened again after it was closed', () => {
  const folder = newFolder();
  closeDataFolder(openDataFolder(folder));
  const again = openDataFolder(folder);
  expect(() => openDataFolder(folder)).toThrow(Problem);
  closeDataFolder(again);
  expect(readdirSync(folder)).toEqual(['lock']);
});
