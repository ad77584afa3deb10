import type { Evidence } from './evidence.ts';
import { eventsOf } from './ledger.ts';

/** What is wrong with the board: every task is as its writer was last answered, none was made twice, lists are exact. */
export function recountBoard({ ledger, tasks, counted }: Evidence): string[] {
  const stored = new Map(tasks.map((task) => [task.id, task]));
  return [
    ...[...ledger.tasks].flatMap(([id, { statuses, version }]) => {
      const task = stored.get(id);
      if (!task) return [`${id} was created and is not there`];
      const told = `${statuses.at(-1)} in version ${version}`;
      const found = `${task.status} in version ${task.version}`;
      const changes = statuses.length;
      return [
        ...(told === found ? [] : [`${id} was ${told} and is ${found}`]),
        // Each change is one version, so those of the table are as many as were answered.
        ...(task.version === changes ? [] : [`${id} was changed to version ${task.version} by ${changes} changes`]),
      ];
    }),
    ...tasks.filter(({ id }) => !ledger.tasks.has(id)).map(({ id }) => `${id} is there and nobody was told of it`),
    ...eventsMissing({ ledger, tasks }),
    ...[...counted].flatMap(([status, number]) => {
      const actual = tasks.filter((task) => task.status === status).length;
      return number === actual ? [] : [`the list of ${status} counts ${number} tasks, not ${actual}`];
    }),
  ];
}

/** The same number of events from either side: the answers, and the versions and statuses of the table. */
function eventsMissing({ ledger, tasks }: Pick<Evidence, 'ledger' | 'tasks'>): string[] {
  const answered = [...ledger.tasks].reduce((sum, [id, { statuses }]) => sum + eventsOf(id, statuses).length, 0);
  const stored = tasks.reduce((sum, { version, status }) => sum + version + (status === 'done' ? 1 : 0), 0);
  return answered === stored ? [] : [`${answered} events were answered for, the table has had ${stored}`];
}
