import * as v from 'valibot';
import { DeliveryOrOrder, ExecutionOrOrder } from '../../../lib/names/messages.ts';

/** A record of the table's stream. Only its id is checked here. */
const ChangeRecord = v.looseObject({ eventID: v.string() });
export type ChangeRecord = v.InferOutput<typeof ChangeRecord>;

/** The schema of each kind that can be redriven: messages, named after their queue, and changes. */
const schemas = {
  deliveries: DeliveryOrOrder,
  executions: ExecutionOrOrder,
  changes: ChangeRecord,
};

/** The kinds that can be redriven. */
export const redrivable = Object.keys(schemas) as (keyof typeof schemas)[];

/** All kinds. A dead letter is `unreadable` if it is of no other kind. */
export const kinds = [...redrivable, 'unreadable'] as const;

/** The kind of a dead letter. */
export type Kind = (typeof kinds)[number];

/** Returns the kind of a dead letter by its body. A message of the shared dead-letter queue does not name its source queue. */
export function kindOf(body: string): Kind {
  const is = (kind: keyof typeof schemas) => v.is(v.pipe(v.string(), v.parseJson(), schemas[kind]), body);
  return redrivable.find(is) ?? 'unreadable';
}
