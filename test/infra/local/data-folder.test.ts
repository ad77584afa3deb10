import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { openDataFolder } from '../../../infra/local/data-folder.ts';
import { Problem } from '../../../infra/local/problem.ts';
import { createTemporaryFolder } from '../../temporary-files.ts';

const root = createTemporaryFolder();
const newFolder = () => mkdtempSync(join(root, 'data-'));
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** A process that opens a folder, says so and runs a line of JavaScript with it. */
function openElsewhere(folder: string, line: string) {
  const module = JSON.stringify(resolve('infra/local/data-folder.ts'));
  const script = `import { openDataFolder } from ${module};
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

it('makes the folder and those above it, for its owner alone', () => {
  const folder = join(newFolder(), 'deep', 'er');
  const data = openDataFolder(folder);
  expect(modeOf(folder)).toBe('700');
  expect(data.path('token')).toBe(join(folder, 'token'));
  data.close();
});

it('writes files for their owner alone, and reads them again', () => {
  const data = openDataFolder(newFolder());
  expect(data.read('token')).toBe(undefined);
  data.write('token', 'one\n');
  data.write('token', 'two\n');
  expect([data.read('token'), modeOf(data.path('token'))]).toEqual(['two\n', '600']);
  data.close();
});

it('leaves the old text or the new, and never a part, when it is killed while it writes', async () => {
  const folder = newFolder();
  for (let round = 0; round < 5; round++) {
    const writer = openElsewhere(
      folder,
      "for (let at = 0; ; at++) data.write('big', String.fromCharCode(97 + (at % 26)).repeat(1_000_000));",
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
  ['a place of the system’s own', () => '/proc/crewboard/x'],
  ['a regular file', () => join(newFolder(), 'file')],
  ['below a regular file', () => join(newFolder(), 'file', 'x')],
])('says in one sentence that it cannot write %s', (_, path) => {
  const folder = path();
  const [, file] = /^(.*\/file)/.exec(folder) ?? [];
  if (file) writeFileSync(file, '');
  const open = () => openDataFolder(folder);
  expect(open).toThrow(Problem);
  expect(open).toThrow(/^The data folder \S+ cannot be written \([^\n]+\); set CREWBOARD_DATA to one that can\.$/);
  expect(open).toThrow(folder);
});

it('is one process’s alone, which another is told in one sentence', async () => {
  const folder = newFolder();
  const holder = openElsewhere(folder, 'setInterval(() => {}, 1000);');
  await holder.opened;
  const sentence = `Another Crewboard is running on the data folder ${folder}; stop it, or set CREWBOARD_DATA to another folder.`;
  expect(() => openDataFolder(folder)).toThrow(new Problem(sentence));
  await holder.kill();
  openDataFolder(folder).close();
});

it('is free again once it is closed', () => {
  const folder = newFolder();
  openDataFolder(folder).close();
  const again = openDataFolder(folder);
  expect(() => openDataFolder(folder)).toThrow(Problem);
  again.close();
  expect(readdirSync(folder)).toEqual(['lock']);
});
