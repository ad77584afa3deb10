import { describe, expect, it } from 'vitest';
import type { Task, TaskStatus } from '../../../../lib/client/operations.ts';
import { type ColumnPage, pagesAround, slotsOf } from '../../../../lib/console/screens/board/slots.ts';

const time = '2026-01-01T00:00:00.000Z';

/** Returns a task by its place in the order of creation, 0 to 9. */
const task = (nth: number, status: TaskStatus = 'backlog'): Task => ({
  ...{ id: `tk_${nth}`, title: `Task ${nth}`, status, priority: 'medium', dependsOn: [] },
  ...{ createdAt: time, updatedAt: time },
});

/** Returns a page with tasks by their places in the order of creation. */
const page = (offset: number, ...tasks: number[]): ColumnPage => ({ offset, tasks: tasks.map((nth) => task(nth)) });

/** Returns the ids of a column of the backlog. */
const idsOf = (...rest: Parameters<typeof slotsOf> extends [unknown, ...infer Rest] ? Rest : never) =>
  slotsOf('backlog', ...rest).map((one) => one?.id);

describe('the cards of a column', () => {
  it('are unknown where no page is read', () => {
    expect(idsOf(5, [page(0, 9, 8), page(3, 6)], [])).toEqual(['tk_9', 'tk_8', undefined, 'tk_6', undefined]);
  });

  it('do not exceed the total of the newest page', () => {
    expect(idsOf(1, [page(0, 9, 8)], [])).toEqual(['tk_9']);
  });

  it('lack a task that is being moved away, before and after the page was read again', () => {
    const moves = [{ task: task(8), to: 'done' as const }];
    expect(idsOf(2, [page(0, 9, 8)], moves)).toEqual(['tk_9']);
    expect(idsOf(1, [page(0, 9)], moves)).toEqual(['tk_9']);
  });

  it('have a task that is being moved here once, at its place by age, before and after the page was read again', () => {
    const moves = [{ task: task(5, 'done'), to: 'backlog' as const }];
    expect(idsOf(2, [page(0, 9, 2)], moves)).toEqual(['tk_9', 'tk_5', 'tk_2']);
    expect(idsOf(3, [page(0, 9, 5, 2)], moves)).toEqual(['tk_9', 'tk_5', 'tk_2']);
    expect(idsOf(1, [page(0, 9)], moves)).toEqual(['tk_9', 'tk_5']);
    expect(slotsOf('backlog', 0, [], moves)[0]?.status).toBe('backlog');
  });

  it('have a task that is being moved here before the first unknown one if no older one is known', () => {
    const moves = [{ task: task(5, 'done'), to: 'backlog' as const }];
    expect(idsOf(3, [page(0, 9)], moves)).toEqual(['tk_9', 'tk_5', undefined, undefined]);
  });

  it('are read by the pages in view, and always by the first one', () => {
    expect(pagesAround(0, 12)).toEqual([0]);
    expect(pagesAround(95, 104)).toEqual([0, 50, 100]);
  });
});
