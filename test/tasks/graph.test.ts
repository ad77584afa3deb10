import { describe, expect, it } from 'vitest';
import { ApiError } from '../../lib/contract/errors.ts';
import { checkNoCycle } from '../../lib/tasks/graph.ts';

/** Creates tasks with dependencies, and records which of them are read. */
function graphOf(dependencies: Record<string, string[]>) {
  const reads: string[][] = [];
  return {
    reads,
    read: async (ids: string[]) => {
      reads.push(ids);
      return ids.filter((id) => dependencies[id]).map((id) => ({ id, dependsOn: dependencies[id] ?? [] }));
    },
  };
}

/** Returns the error of a change to `dependsOn`, if there is one. */
async function errorOf(id: string, dependsOn: string[], dependencies: Record<string, string[]>, added = dependsOn) {
  try {
    await checkNoCycle(id, added, dependsOn, graphOf(dependencies).read);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    return error as ApiError;
  }
}

describe('a dependency', () => {
  it.each<[string, string[], Record<string, string[]>]>([
    ['on a task that depends on nothing', ['b'], { b: [] }],
    ['on a chain', ['b'], { b: ['c'], c: ['d'], d: [] }],
    ['on both ends of a diamond', ['b', 'c'], { b: ['d'], c: ['d'], d: [] }],
    ['on a deleted task', ['b'], {}],
    ['on a chain that ends in a deleted task', ['b'], { b: ['c'] }],
    ['on tasks that are a cycle themselves', ['b'], { b: ['c'], c: ['b'] }],
  ])('%s is allowed', async (_, dependsOn, tasks) => {
    expect(await errorOf('a', dependsOn, tasks)).toBeUndefined();
  });

  it.each<[string, string[], Record<string, string[]>, number, string]>([
    ['on itself', ['a'], {}, 0, 'a → a'],
    ['on a task that depends on it', ['b'], { b: ['a'] }, 0, 'a → b → a'],
    ['in a cycle of three', ['x', 'b'], { x: [], b: ['c'], c: ['a'] }, 1, 'a → b → c → a'],
    ['in a cycle after a diamond', ['b'], { b: ['c', 'd'], c: ['e'], d: ['e'], e: ['a'] }, 0, 'a → b → c → e → a'],
    ['in two cycles (the shorter is named)', ['b', 'c'], { b: ['d'], d: ['a'], c: ['a'] }, 1, 'a → c → a'],
  ])('%s throws `dependency_cycle` with its path', async (_, dependsOn, tasks, place, path) => {
    const error = await errorOf('a', dependsOn, tasks);
    expect(error?.code).toBe('dependency_cycle');
    const message = expect.stringContaining(path);
    expect(error?.details).toEqual([{ path: `dependsOn.${place}`, code: 'cycle', message }]);
  });

  it('is named by its index in the new dependencies', async () => {
    const error = await errorOf('a', ['kept', 'also-kept', 'b'], { b: ['a'] }, ['b']);
    expect(error?.details[0]?.path).toBe('dependsOn.2');
  });

  it('in a cycle of 50 tasks throws an error with at most 20 ids', async () => {
    const name = (at: number) => `task-${String(at).padStart(2, '0')}`;
    const cycle = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [name(at), [name((at + 1) % 50)]]));
    const error = await errorOf(name(0), [name(1)], cycle);
    expect(error?.code).toBe('dependency_cycle');
    expect(JSON.stringify(error?.details).match(/task-\d\d/g)?.length).toBeLessThanOrEqual(20);
  });
});

describe('the search for a cycle', () => {
  it('reads level by level, each task once', async () => {
    const graph = graphOf({ b: ['d', 'e'], c: ['e'], d: ['f'], e: ['f'], f: [] });
    await checkNoCycle('a', ['b', 'c'], ['b', 'c'], graph.read);
    expect(graph.reads).toEqual([['b', 'c'], ['d', 'e'], ['f']]);
  });

  it('starts from the added dependencies only', async () => {
    const graph = graphOf({ kept: ['far'], added: [] });
    await checkNoCycle('a', ['added'], ['kept', 'added'], graph.read);
    expect(graph.reads).toEqual([['added']]);
  });

  it('stops when it finds a cycle', async () => {
    const graph = graphOf({ b: ['a', 'c'], c: ['d'], d: [] });
    await expect(checkNoCycle('a', ['b'], ['b'], graph.read)).rejects.toThrow(ApiError);
    expect(graph.reads).toEqual([['b']]);
  });

  it('reads no task if no dependency is added', async () => {
    const graph = graphOf({});
    await checkNoCycle('a', [], ['b'], graph.read);
    expect(graph.reads).toEqual([]);
  });
});
