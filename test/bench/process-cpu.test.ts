import { expect, it } from 'vitest';
import { cpuBelow, processFrom } from './process-cpu.ts';

const stat = (name: string) =>
  `4711 (${name}) S 42 4711 4711 0 -1 4194304 9 9 0 0 120 30 7 8 20 0 11 0 100 200 300 400 0 0 0 0 0 0 0`;

it.each(['node', 'a name', 'odd) S 1 (2'])('reads the parent and the CPU time of a process named "%s"', (name) => {
  expect(processFrom(stat(name))).toEqual({ pid: 4711, parent: 42, cpuMs: 1_500 });
});

it('sums a tree without the processes beside it and the trees that are left out', () => {
  const processes = [
    { pid: 1, parent: 0, cpuMs: 1 },
    { pid: 2, parent: 1, cpuMs: 10 },
    { pid: 3, parent: 2, cpuMs: 100 },
    { pid: 4, parent: 2, cpuMs: 1_000 },
    { pid: 5, parent: 4, cpuMs: 10_000 },
  ];
  expect([cpuBelow(processes, 2), cpuBelow(processes, 2, [4]), cpuBelow(processes, 9)]).toEqual([11_110, 110, 0]);
});
