import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTemporaryFolder } from '../../temporary-files.ts';
import { findPrograms, startProgram } from './programs.ts';

it('finds each program in the first folder that has it', () => {
  const folder = createTemporaryFolder();
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  for (const one of [first, second]) mkdirSync(one);
  for (const path of [join(first, 'both'), join(second, 'both'), join(second, 'one')]) writeFileSync(path, '');
  const { paths, missing } = findPrograms(['both', 'one', 'none'], [first, second]);
  expect(paths).toMatchObject({ both: join(first, 'both'), one: join(second, 'one') });
  expect(missing).toEqual(['none']);
});

/** Starts a shell script as a program; `stop` ends what the benchmark would stop. */
function startScript(script: string) {
  const stops: (() => unknown)[] = [];
  const bench = { quick: true, say: () => {}, atEnd: (stop: () => unknown) => stops.push(stop) };
  const options = { args: ['-c', script], env: {}, cwd: tmpdir(), ready: /^up$/m };
  const started = startProgram(bench, '/bin/sh', options);
  return { started, stop: () => Promise.all(stops.map((stop) => stop())) };
}

it('waits for a program until it says that it is ready, on either stream, and stops it in the end', async () => {
  const { started, stop } = startScript('echo up >&2; exec sleep 60');
  const pid = await started;
  expect(process.kill(pid, 0)).toBe(true);
  await stop();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

it('says what a program printed that ends before it is ready', async () => {
  const { started, stop } = startScript('echo no such database; exit 3');
  await expect(started).rejects.toThrow('/bin/sh ended with code 3:\nno such database');
  await stop();
});
