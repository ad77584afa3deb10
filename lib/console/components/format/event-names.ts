import { type EventName, eventNames } from '../../../client/operations.ts';

/** Returns the name of an event that a URL has, or `undefined` if there is no such event. */
export function eventNameOf(text: string | undefined): EventName | undefined {
  return eventNames.find((name) => name === text);
}
