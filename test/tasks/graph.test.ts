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
      return ids.flatMap((id) => {
        const dependsOn = dependencies[id];
        return dependsOn ? [{ id, dependsOn }] : [];
      });
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
  it.each([
    ['on a task that depends on nothing', 'a', ['b'], { b: [] }],
    ['on a chain', 'a', ['b'], { b: ['c'], c: ['d'], d: [] }],
    ['on both ends of a diamond', 'a', ['b', 'c'], { b: ['d'], c: ['d'], d: [] }],
    ['on a deleted task', 'a', ['b'], {}],
    ['on a chain that ends in a deleted task', 'a', ['b'], { b: ['c'] }],
    ['on tasks that are a cycle themselves', 'a', ['b'], { b: ['c'], c: ['b'] }],
  ] as [string, string, string[], Record<string, string[]>][])('%s is allowed', async (_, id, dependsOn, tasks) => {
    expect(await errorOf(id, dependsOn, tasks)).toBeUndefined();
  });

  it.each([
    ['on itself', 'a', ['a'], {}, 0, 'a → a'],
    ['on a task that depends on it', 'a', ['b'], { b: ['a'] }, 0, 'a → b → a'],
    ['in a cycle of three', 'a', ['x', 'b'], { x: [], b: ['c'], c: ['a'] }, 1, 'a → b → c → a'],
    ['in a cycle after a diamond', 'a', ['b'], { b: ['c', 'd'], c: ['e'], d: ['e'], e: ['a'] }, 0, 'a → b → c → e → a'],
    ['in two cycles (the shorter is named)', 'a', ['b', 'c'], { b: ['d'], d: ['a'], c: ['a'] }, 1, 'a → c → a'],
  ] as [string, string, string[], Record<string, string[]>, number, string][])(
    '%s throws `dependency_cycle` with its path',
    async (_, id, dependsOn, tasks, place, path) => {
      const error = await errorOf(id, dependsOn, tasks);
      expect(error?.code).toBe('dependency_cycle');
      expect(error?.details).toMatchObject([{ path: `dependsOn.${place}`, code: 'cycle' }]);
      expect(error?.details[0]?.message).toContain(path);
    },
  );

  it('is named by its index in the new dependencies', async () => {
    const error = await errorOf('a', ['kept', 'also-kept', 'b'], { b: ['a'] }, ['b']);
    expect(error?.details[0]?.path).toBe('dependsOn.2');
  });

  it('in a cycle of 50 tasks throws an error with at most 20 ids', async () => {
    const name = (at: number) => `task-${String(at).padStart(2, '0')}`;
    const board = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [name(at), [name((at + 1) % 50)]]));
    const error = await errorOf(name(0), [name(1)], board);
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
