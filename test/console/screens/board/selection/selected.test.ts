import { describe, expect, it } from 'vitest';
import type { TaskListItem } from '../../../../../lib/client/operations.ts';
import { mostSelected, withoutTasks, withTasks } from '../../../../../lib/console/screens/board/selection/selected.ts';

const tasks = (count: number, from = 0): TaskListItem[] =>
  Array.from({ length: count }, (_, nth) => ({
    id: `tk_${from + nth}`,
    title: `Task ${from + nth}`,
    status: 'backlog',
    priority: 'low',
    dependsOn: [],
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  }));

describe('a selection', () => {
  it('has each task once', () => {
    const selected = withTasks(new Map(), tasks(3));
    expect([...(withTasks(selected ?? new Map(), tasks(3, 1)) ?? []).keys()]).toEqual(['tk_0', 'tk_1', 'tk_2', 'tk_3']);
    expect([...withoutTasks(selected ?? new Map(), ['tk_1']).keys()]).toEqual(['tk_0', 'tk_2']);
  });

  it('takes no more tasks than it can have', () => {
    const full = withTasks(new Map(), tasks(mostSelected));
    expect(full?.size).toBe(mostSelected);
    expect(withTasks(full ?? new Map(), tasks(1, mostSelected))).toBeUndefined();
    expect(withTasks(full ?? new Map(), tasks(mostSelected))?.size).toBe(mostSelected);
  });
});
