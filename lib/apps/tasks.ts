import { openTaskStore } from '../table/tasks.ts';
import { openTasks } from '../tasks/tasks.ts';
import { appOf } from './base.ts';

/** The app of functions that serve the board. */
export const tasksApp = appOf(({ table, ulid, clock }) => ({ tasks: openTasks(openTaskStore(table), ulid, clock) }));
