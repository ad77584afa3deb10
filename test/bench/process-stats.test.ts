import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import {
  busyShare,
  coreTimes,
  processFrom,
  processNamed,
  residentOf,
  residentOfTree,
  treeOf,
} from './process-stats.ts';

const stat = (name: string) =>
  `4711 (${name}) S 42 4711 4711 0 -1 4194304 9 9 0 0 120 30 7 8 20 0 11 0 100 200 300 400 0 0 0 0 0 0 0`;

it.each(['node', 'a name', 'odd) S 1 (2'])('reads the parent and the CPU time of a process named "%s"', (name) => {
  expect(processFrom(stat(name))).toEqual({ pid: 4711, parent: 42, name, cpuMs: 1_500 });
});

it('a tree has all processes below its root, without the trees that are left out', () => {
  const processes = [
    [1, 0],
    [2, 1],
    [3, 2],
    [4, 2],
    [5, 4],
  ].map(([pid = 0, parent = 0]) => ({
    ...{ pid, parent, name: '', cpuMs: 0 },
  }));
  const pids = (root: number, without?: number[]) => treeOf(root, without, processes).map(({ pid }) => pid);
  expect([pids(2), pids(2, [4]), pids(9)]).toEqual([[2, 3, 4, 5], [2, 3], []]);
});

it('finds a process by its name below another, and the memory of both', async () => {
  const child = spawn('/bin/sh', ['-c', 'cat; true'], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.write('up\n');
  await once(child.stdout, 'data');
  const pid = child.pid as number;
  const cat = processNamed('cat', pid);
  expect(() => processNamed('dog', pid)).toThrow('No process dog runs');
  expect(residentOfTree(pid)).toBeGreaterThan(residentOfTree(cat));
  expect(residentOf(cat)).toBeGreaterThan(0);
  child.stdin.end();
  await once(child, 'exit');
});

it('the busy share is the time that was not idle', () => {
  expect(busyShare({ idle: 100, all: 1_000 }, { idle: 125, all: 1_100 })).toBe(0.75);
  const { idle, all } = coreTimes();
  expect(idle).toBeGreaterThan(0);
  expect(all).toBeGreaterThan(idle);
});
