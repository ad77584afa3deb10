import * as v from 'valibot';
import { DeliveryMessage, ExecutionMessage, PurgeMessage } from '../../../lib/deployment/messages.ts';

/** A change of the table as its stream tells it: of all that it says only its id is looked at here. */
const ChangeRecord = v.looseObject({ eventID: v.string() });
export type ChangeRecord = v.InferOutput<typeof ChangeRecord>;

/** What tells each kind that can be handled once more: the messages, named as the queue that they go to, and changes. */
const schemas = {
  deliveries: DeliveryMessage,
  executions: ExecutionMessage,
  purges: PurgeMessage,
  changes: ChangeRecord,
};

/** The kinds that can be handled once more. */
export const redrivable = Object.keys(schemas) as (keyof typeof schemas)[];

/** All kinds; `unreadable` is what is none of the others. */
export const kinds = [...redrivable, 'unreadable'] as const;

/** What a dead letter is. */
export type Kind = (typeof kinds)[number];

/** Tells what a dead letter is, by its body: nothing else says who gave it up. */
export function kindOf(body: string): Kind {
  const is = (kind: keyof typeof schemas) => v.is(v.pipe(v.string(), v.parseJson(), schemas[kind]), body);
  return redrivable.find(is) ?? 'unreadable';
}
