import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { closeDataFolder, dataPath, openDataFolder, readData, writeData } from '../../../infra/local/data-folder.ts';
import { Problem } from '../../../infra/problem.ts';
import { createTemporaryFolder } from '../../temporary-files.ts';

const root = createTemporaryFolder();
const newFolder = () => mkdtempSync(join(root, 'data-'));
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** Starts a process that opens a folder and runs a line of JavaScript with it; waits until that line prints. */
async function openElsewhere(folder: string, line: string) {
  const module = JSON.stringify(resolve('infra/local/data-folder.ts'));
  const script = `import { openDataFolder, writeData } from ${module};
    let data = openDataFolder(${JSON.stringify(folder)});
    ${line}`;
  const args = ['--expose-gc', '--input-type=module', '-e', script];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const kill = () => {
    child.kill('SIGKILL');
    return ended;
  };
  onTestFinished(async () => void (await kill()));
  await once(child.stdout, 'data');
  return { kill };
}

it('creates the folder and its parents, and writes files, for the owner only', () => {
  const folder = join(newFolder(), 'deep', 'er');
  const data = openDataFolder(folder);
  expect([modeOf(folder), dataPath(data, 'token')]).toEqual(['700', join(folder, 'token')]);
  expect(readData(data, 'token')).toBe(undefined);
  for (const text of ['one\n', 'two\n']) writeData(data, 'token', text);
  expect([readData(data, 'token'), modeOf(dataPath(data, 'token'))]).toEqual(['two\n', '600']);
  closeDataFolder(data);
});

it('takes the rights of others on an existing folder and on every file that the service writes', () => {
  const folder = newFolder();
  const names = ['addresses.json', 'engine.log', 'lock', 'secrets.key', 'stream.json', 'stream.json.new', 'token'];
  const tables = ['table.db', 'table.db-journal', 'table.db-shm', 'table.db-wal'];
  const upgrade = ['table.db.new', 'table.db.new-journal', 'table.db.before-upgrade'];
  const paths = [...names, ...tables, ...upgrade].map((name) => join(folder, name));
  for (const path of paths) {
    writeFileSync(path, '');
    chmodSync(path, 0o644);
  }
  chmodSync(folder, 0o755);
  const data = openDataFolder(folder);
  expect(data.modeProblem).toBeUndefined();
  expect([folder, ...paths].map(modeOf)).toEqual(['700', ...paths.map(() => '600')]);
  closeDataFolder(data);
});

it('reports a folder with files of other programs, which others can open', () => {
  const folder = newFolder();
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'notes.txt'), '');
  const data = openDataFolder(folder);
  expect(data.modeProblem).toContain(`${folder} (it has files of other programs)`);
  closeDataFolder(data);
});

it('leaves the complete old or new text when the process is killed during a write', async () => {
  const folder = newFolder();
  const path = join(folder, 'big');
  const writing = "writeData(data, 'big', String.fromCharCode(97 + (at % 26)).repeat(1_000_000))";
  for (let round = 0; round < 5; round++) {
    const writer = await openElsewhere(folder, `console.log('open'); for (let at = 0; ; at++) ${writing};`);
    const isWritten = () => existsSync(path);
    while (!isWritten()) await new Promise((done) => setImmediate(done));
    for (let look = 0; look < 20; look++) expect(readFileSync(path, 'utf8')).toMatch(/^([a-z])\1{999999}$/);
    await writer.kill();
    expect(readFileSync(path, 'utf8')).toMatch(/^([a-z])\1{999999}$/);
  }
});

const file = join(newFolder(), 'file');
writeFileSync(file, '');

it.each(['/dev/null/x', '/proc/crewboard/x', file, join(file, 'x')])('reports that it cannot write %s', (folder) => {
  const sentence = '[^\\n]+\\); set CREWBOARD_DATA to a writable folder\\.$';
  const open = () => openDataFolder(folder);
  expect(open).toThrow(Problem);
  expect(open).toThrow(new RegExp(`^The data folder ${folder} cannot be written \\(${sentence}`));
});

it('can be opened by one process at a time; another gets an error of one sentence', async () => {
  const folder = newFolder();
  const sentence = `Another Crewboard, or one of its commands, is running on the data folder ${folder}; stop it or wait for its end, or set CREWBOARD_DATA to another folder.`;
  // The lock is kept even if nothing but the data folder itself refers to it.
  const forget = "data = undefined; setTimeout(() => { gc(); console.log('open'); setInterval(() => {}, 1000); });";
  const holder = await openElsewhere(folder, forget);
  expect(() => openDataFolder(folder)).toThrow(new Problem(sentence));
  await holder.kill();
  closeDataFolder(openDataFolder(folder));
  const again = openDataFolder(folder);
  expect(() => openDataFolder(folder)).toThrow(Problem);
  closeDataFolder(again);
  expect(readdirSync(folder)).toEqual(['lock']);
});
