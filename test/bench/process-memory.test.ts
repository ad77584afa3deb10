import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { processNamed, residentFrom, residentOf, residentOfTree } from './process-memory.ts';

it('reads the resident memory of a process, and not what else there is', () => {
  const rollup = `5631f8db3000-7ffee6d1b000 ---p 00000000 00:00 0                          [rollup]
Rss:                2048 kB
Pss:                 512 kB
SwapRss:               0 kB
`;
  expect(residentFrom(rollup, 'Rss')).toBe(2);
  expect(residentFrom(rollup, 'Pss')).toBe(0.5);
});

it('reads what this process has', () => {
  expect(residentOf(process.pid)).toBeGreaterThan(0);
});

it('reads what a process has together with those below it', async () => {
  const child = spawn('/bin/sh', ['-c', 'cat; true'], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.write('up\n');
  await once(child.stdout, 'data');
  const pid = child.pid as number;
  expect(residentOfTree(pid)).toBeGreaterThan(residentOfTree(processNamed('cat', pid)));
  child.stdin.end();
  await once(child, 'exit');
});

it('finds a process by its name, below another alone', async () => {
  const child = spawn('/bin/sh', ['-c', 'cat; true'], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.write('up\n');
  await once(child.stdout, 'data');
  expect(processNamed('cat', child.pid as number)).toBeGreaterThan(child.pid as number);
  expect(() => processNamed('dog', child.pid as number)).toThrow('No process dog runs');
  child.stdin.end();
  await once(child, 'exit');
});
