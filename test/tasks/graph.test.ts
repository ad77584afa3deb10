import { describe, expect, it } from 'vitest';
import { ApiError } from '../../lib/contract/errors.ts';
import { rejectCycle } from '../../lib/tasks/graph.ts';

/** A board of tasks by what they depend on, and how often it is read. */
function boardOf(dependencies: Record<string, string[]>) {
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

/** The refusal that a change to `dependsOn` meets, if it does. */
async function errorOf(id: string, dependsOn: string[], dependencies: Record<string, string[]>, added = dependsOn) {
  try {
    await rejectCycle(id, added, dependsOn, boardOf(dependencies).read);
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
    ['on a task that is gone', 'a', ['b'], {}],
    ['on a chain that ends in a task that is gone', 'a', ['b'], { b: ['c'] }],
    ['above tasks that are a ring themselves', 'a', ['b'], { b: ['c'], c: ['b'] }],
  ] as [string, string, string[], Record<string, string[]>][])('%s is taken', async (_, id, dependsOn, board) => {
    expect(await errorOf(id, dependsOn, board)).toBeUndefined();
  });

  it.each([
    ['on itself', 'a', ['a'], {}, 0, 'a → a'],
    ['on a task that depends on it', 'a', ['b'], { b: ['a'] }, 0, 'a → b → a'],
    ['in a ring of three', 'a', ['x', 'b'], { x: [], b: ['c'], c: ['a'] }, 1, 'a → b → c → a'],
    ['in a ring behind a diamond', 'a', ['b'], { b: ['c', 'd'], c: ['e'], d: ['e'], e: ['a'] }, 0, 'a → b → c → e → a'],
    ['in the shortest of two rings', 'a', ['b', 'c'], { b: ['d'], d: ['a'], c: ['a'] }, 1, 'a → c → a'],
  ] as [string, string, string[], Record<string, string[]>, number, string][])(
    '%s is refused, its path named',
    async (_, id, dependsOn, board, place, path) => {
      const refusal = await errorOf(id, dependsOn, board);
      expect(refusal?.code).toBe('dependency_cycle');
      expect(refusal?.details).toMatchObject([{ path: `dependsOn.${place}`, code: 'cycle' }]);
      expect(refusal?.details[0]?.message).toContain(path);
    },
  );

  it('is named by its place in the body, whatever else was there before', async () => {
    const refusal = await errorOf('a', ['kept', 'also-kept', 'b'], { b: ['a'] }, ['b']);
    expect(refusal?.details[0]?.path).toBe('dependsOn.2');
  });

  it('in a ring of 50 tasks is refused with 20 of them named at most', async () => {
    const name = (at: number) => `task-${String(at).padStart(2, '0')}`;
    const board = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [name(at), [name((at + 1) % 50)]]));
    const refusal = await errorOf(name(0), [name(1)], board);
    expect(refusal?.code).toBe('dependency_cycle');
    expect(JSON.stringify(refusal?.details).match(/task-\d\d/g)?.length).toBeLessThanOrEqual(20);
  });
});

describe('the walk', () => {
  it('reads level by level, each task once', async () => {
    const board = boardOf({ b: ['d', 'e'], c: ['e'], d: ['f'], e: ['f'], f: [] });
    await rejectCycle('a', ['b', 'c'], ['b', 'c'], board.read);
    expect(board.reads).toEqual([['b', 'c'], ['d', 'e'], ['f']]);
  });

  it('starts from the added dependencies alone', async () => {
    const board = boardOf({ kept: ['far'], added: [] });
    await rejectCycle('a', ['added'], ['kept', 'added'], board.read);
    expect(board.reads).toEqual([['added']]);
  });

  it('stops at the ring', async () => {
    const board = boardOf({ b: ['a', 'c'], c: ['d'], d: [] });
    await expect(rejectCycle('a', ['b'], ['b'], board.read)).rejects.toThrow(ApiError);
    expect(board.reads).toEqual([['b']]);
  });

  it('reads nothing where nothing is added', async () => {
    const board = boardOf({});
    await rejectCycle('a', [], ['b'], board.read);
    expect(board.reads).toEqual([]);
  });
});
