import type { Evidence } from './evidence.ts';
import { eventsOf } from './ledger.ts';

/** Returns the faults of the tasks: each is as in the last response to its writer, none exists twice, totals are exact. */
export function checkTasks({ ledger, tasks, counted }: Evidence): string[] {
  const stored = new Map(tasks.map((task) => [task.id, task]));
  return [
    ...[...ledger.tasks].flatMap(([id, { statuses, version }]) => {
      const task = stored.get(id);
      if (!task) return [`${id} was created and does not exist`];
      const expected = `${statuses.at(-1)} in version ${version}`;
      const found = `${task.status} in version ${task.version}`;
      const changes = statuses.length;
      return [
        ...(expected === found ? [] : [`${id} was ${expected} and is ${found}`]),
        // Each change is one version.
        ...(task.version === changes ? [] : [`${id} was changed to version ${task.version} by ${changes} changes`]),
      ];
    }),
    ...tasks.filter(({ id }) => !ledger.tasks.has(id)).map(({ id }) => `${id} exists and no response has named it`),
    ...eventsMissing({ ledger, tasks }),
    ...[...counted].flatMap(([status, number]) => {
      const actual = tasks.filter((task) => task.status === status).length;
      return number === actual ? [] : [`the list of ${status} counts ${number} tasks, not ${actual}`];
    }),
  ];
}

/** Compares the number of events by the responses with that by the versions and statuses in the table. */
function eventsMissing({ ledger, tasks }: Pick<Evidence, 'ledger' | 'tasks'>): string[] {
  const answered = [...ledger.tasks].reduce((sum, [id, { statuses }]) => sum + eventsOf(id, statuses).length, 0);
  const stored = tasks.reduce((sum, { version, status }) => sum + version + (status === 'done' ? 1 : 0), 0);
  return answered === stored ? [] : [`${answered} events are in the ledger, the table has had ${stored}`];
}
