import type { EventName } from '../../client/operations.ts';

/** The names of all events. The type makes a missing one an error. */
const allNames: Record<EventName, true> = {
  'task.created': true,
  'task.status_changed': true,
  'task.completed': true,
  'agent.spawned': true,
  'agent.completed': true,
  'agent.failed': true,
};

/** The names of all events, in the order in which they are offered. */
export const eventNames = Object.keys(allNames) as EventName[];

/** Returns the name of an event that a URL has, or `undefined` if there is no such event. */
export function eventNameOf(text: string | undefined): EventName | undefined {
  return eventNames.find((name) => name === text);
}
