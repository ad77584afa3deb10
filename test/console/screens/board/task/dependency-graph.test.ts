import { describe, expect, it } from 'vitest';
import type { TaskReference, TaskStatus } from '../../../../../lib/client/operations.ts';
import { graphOf } from '../../../../../lib/console/screens/board/task/dependency-graph.ts';

const task = (id: string, status: TaskStatus = 'backlog'): TaskReference => ({ id, title: `Task ${id}`, status });

/** Returns the graph of a task that depends on `direct`, of which each depends on the tasks in `further`. */
const graph = (direct: TaskReference[], further: Record<string, TaskReference[]> = {}, most = 6) =>
  graphOf(direct, new Map(Object.entries(further)), most);

describe('the graph of dependencies', () => {
  it('has a layer of dependencies, and one of their dependencies, each in the middle of its column', () => {
    const { nodes, edges, height } = graph([task('a')], { a: [task('b'), task('c')] });
    expect(height).toBe(4);
    expect(nodes.map(({ task: { id }, layer, middle }) => [id, layer, middle])).toEqual([
      ['a', 1, 2],
      ['b', 2, 1],
      ['c', 2, 3],
    ]);
    expect(edges.map(({ gap, from, to }) => [gap, from, to])).toEqual([
      [0, 2, 2],
      [1, 1, 2],
      [1, 3, 2],
    ]);
  });

  it('has a task that two others need once, with a line to each', () => {
    const shared = task('shared');
    const { nodes, edges } = graph([task('a'), task('b')], { a: [shared], b: [shared] });
    expect(nodes.map(({ task: { id } }) => id)).toEqual(['a', 'b', 'shared']);
    expect(nodes.at(-1)?.neededBy).toEqual(['Task a', 'Task b']);
    expect(edges.filter(({ gap }) => gap === 1).map(({ from, to }) => [from, to])).toEqual([
      [2, 1],
      [2, 3],
    ]);
  });

  it('has a dependency that another one needs in the first layer, with a line beside the layer', () => {
    const { nodes, edges, hidden } = graph([task('a'), task('b')], { a: [task('b')] });
    expect(nodes.map(({ task: { id }, layer }) => [id, layer])).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
    expect(edges.filter(({ isWithin }) => isWithin)).toEqual([
      { gap: 1, from: 3, to: 1, isWithin: true, isDone: false },
    ]);
    expect(hidden).toBe(0);
  });

  it('has the tasks of the second layer near to those that need them', () => {
    const further = { a: [task('last'), task('first')], b: [task('last')], c: [task('last')] };
    const { nodes } = graph([task('a'), task('b'), task('c')], further);
    expect(nodes.slice(3).map(({ task: { id } }) => id)).toEqual(['first', 'last']);
  });

  it('leaves out what exceeds a layer, done tasks first, and counts it', () => {
    const direct = [task('done', 'done'), task('a'), task('b')];
    const { nodes, hidden } = graph(direct, { a: [task('c'), task('done', 'done'), task('d'), task('e')] }, 2);
    expect(nodes.map(({ task: { id } }) => id)).toEqual(['a', 'b', 'c', 'd']);
    expect(hidden).toBe(2);
  });

  it('marks the lines from done tasks', () => {
    const { edges } = graph([task('a'), task('b', 'done')]);
    expect(edges.map(({ isDone }) => isDone)).toEqual([false, true]);
  });
});
