import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { memoryFrom, memoryOf, processNamed } from './process-memory.ts';

it('reads all pages of a process and its share of them, and not what else there is of either', () => {
  const rollup = `5631f8db3000-7ffee6d1b000 ---p 00000000 00:00 0                          [rollup]
Rss:                2048 kB
Pss:                 512 kB
Pss_Dirty:           112 kB
SwapPss:               0 kB
`;
  expect(memoryFrom(rollup)).toEqual({ rss: 2, pss: 0.5 });
});

it('reads what this process has', () => {
  const { rss, pss } = memoryOf(process.pid);
  expect(pss).toBeGreaterThan(0);
  expect(rss).toBeGreaterThanOrEqual(pss);
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
