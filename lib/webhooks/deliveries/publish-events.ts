import type { Context } from '../../context/context.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { PublicEvent } from '../../contract/webhooks/events.ts';
import { carriedBytes, type DeliveryMessage } from '../../names/messages.ts';
import { requestFields } from '../../table/access/current-request.ts';
import { type EventCheckContext, planEventCheck } from '../../table/deliveries/event-checks.ts';
import { appendEvent, type LoggedEvent, readEvent } from '../../table/events/event-log.ts';
import { isLate, listLateEvent } from '../../table/events/late-events.ts';
import { type LogClockContext, logTime, wasSetBack } from '../../table/events/log-clock.ts';
import { logTimeOf, notePosition } from '../../table/events/log-times.ts';
import { sendAttemptMessages } from '../attempts/attempt-messages.ts';
import { eventIdOf } from '../attempts/derived-ids.ts';
import { readFirstAttempts } from './first-attempts.ts';

/** A change of an item: its id, its version after the change, and the events of the change. */
export type Change = { organization: Organization; item: string; version: number; events: PublicEvent[] };

/**
 * Publishes the events of a change: appends them to the log, then sends a message for each webhook that was subscribed
 * before and whose filter matches. It may run again for the same change: events and deliveries have derived ids, so
 * nothing is delivered twice. An event with first attempts has a check, which finds lost messages. An event that the log has
 * late is also listed for followers, before the change counts as published.
 */
export async function publishEvents(
  context: EventCheckContext & LogClockContext & Context,
  { organization, item, version, events }: Change,
): Promise<void> {
  const logContext = { ...context, clock: () => logTime(context) };
  const note = (position: string) => notePosition(context, organization, position);
  await Promise.all(
    events.map(async ({ event, data, ...rest }) => {
      const changedAt = Date.parse(data.occurredAt);
      const id = eventIdOf(changedAt, { item, version, event });
      const madeAt = await logTimeOf(context, organization, changedAt);
      // The log keeps the time that it has: after a step, a change that is read again can seem to be of another time. And a
      // process that owns its logs reads open changes again at each start: followers get a late event once for all of them.
      const mayBeKnown = wasSetBack(context) || (context.ownsLogs && isLate(id, logTime(context)));
      const known = mayBeKnown ? await readEvent(context, organization, id) : undefined;
      const logged = known ?? {
        organization,
        id,
        event,
        item,
        version,
        ...(madeAt !== changedAt && { logTime: madeAt }),
        ...requestFields(),
        data: JSON.stringify(data),
        ...rest,
      };
      const append = async () => {
        if (!known) await appendEvent(context, logged);
        return !known?.listed && isLate(id, logTime(context));
      };
      const list = async () => {
        await note(await listLateEvent(logContext, organization, id));
        if (context.ownsLogs) await appendEvent(context, { ...logged, listed: true });
      };
      const [messages, late] = await Promise.all([readFirstAttempts(context, logged), append()]);
      await Promise.all([
        sendAttemptMessages(context, withContent(messages, logged)),
        messages.length > 0 ? planEventCheck(context, organization, id) : undefined,
        late ? list() : note(ulidOf(id)),
      ]);
    }),
  );
}

/** A character that SQS does not take in a message, or a part of one above U+FFFF, which not every engine takes. */
const uncarried = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/;

/** Returns the messages of the attempts of an event, which carry it if it is small and SQS takes its characters. */
function withContent(messages: readonly DeliveryMessage[], event: LoggedEvent): readonly DeliveryMessage[] {
  const { event: name, data, logTime } = event;
  if (Buffer.byteLength(data) > carriedBytes || uncarried.test(data)) return messages;
  const content = { event: name, data, ...(logTime !== undefined && { logTime }) };
  return messages.map((message) => ({ ...message, content }));
}
