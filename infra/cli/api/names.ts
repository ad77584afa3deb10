import { InvalidArgumentError } from '@commander-js/extra-typings';
import { type EventName, eventNames } from '../../../lib/contract/webhooks/events.ts';
import { type MissedKind, missedKinds } from '../../../lib/contract/webhooks/recoveries.ts';

/**
 * Reads names of events that are separated by commas.
 *
 * @throws InvalidArgumentError
 */
export function readEventNames(given: string): EventName[] {
  return readNames('event', eventNames, given);
}

/**
 * Reads kinds of missed events that are separated by commas.
 *
 * @throws InvalidArgumentError
 */
export function readKinds(given: string): MissedKind[] {
  return readNames('kind', missedKinds, given);
}

function readNames<Name extends string>(what: string, names: readonly Name[], given: string): Name[] {
  const asked = given.split(',').map((name) => name.trim());
  const unknown = asked.filter((name) => !(names as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`Unknown ${what} ${unknown.join(', ')}; use ${names.join(', ')}.`);
  return [...new Set(asked as Name[])];
}
