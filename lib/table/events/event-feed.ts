import type { CursorPage } from '../../contract/endpoint.ts';
import { timeOf, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { ascending } from '../../contract/texts/order.ts';
import { type EventQuery, maxEventsRead } from '../../contract/webhooks/event-log.ts';
import type { TableContext } from '../access/client.ts';
import { isTooFarAhead } from '../access/clocks.ts';
import { keys } from '../access/keys.ts';
import { type Filter, getItems, queryPages } from '../access/reads.ts';
import { firstKeptDay } from '../lists/history-days.ts';
import { eventFrom, type LoggedEvent } from './event-log.ts';
import {
  firstUlid,
  followDelayMs,
  justAfter,
  justBefore,
  lastPossiblePosition,
  lastUlid,
  lateEventsOf,
  maxTime,
} from './positions.ts';

type FeedContext = TableContext & { clock: () => number };

/** The filters of a page of events; `since` and `until` are Unix times in ms. */
export type EventFilter = Omit<EventQuery, 'limit' | 'after' | 'before'>;

/** The number of events that one query of a filtered page reads. */
const filteredQueryEvents = 250;

/** The number of items with late events that one query reads. */
const lateQueryItems = 25;

/**
 * Returns the newest events of an organization that match a filter, newest first, strongly consistent.
 *
 * @param before the id of the event after the page
 */
export async function readNewestEvents(
  context: FeedContext,
  organization: Organization,
  { limit, ...wanted }: { before?: string | undefined; limit: number; filter: EventFilter },
): Promise<CursorPage<LoggedEvent>> {
  // One more event shows that there is a next page.
  const parts = readNewestParts(context, organization, { ...wanted, maxRead: maxEventsRead, partSize: limit + 1 });
  return pageFromParts(parts, limit, ({ id }) => id);
}

/**
 * Yields the newest events of an organization that match a filter in parts, newest first, strongly consistent. Parts are read
 * when they are needed. `next` of a part is where the log continues after the part; `null` at its end.
 *
 * @param before the id of the event after the first part
 * @param maxRead how many events are read in all, whether they match or not
 * @param partSize how many events a part has, if only their time counts
 */
export async function* readNewestParts(
  { table, clock }: FeedContext,
  organization: Organization,
  {
    before,
    filter,
    maxRead,
    partSize,
  }: { before?: string | undefined; filter: EventFilter; maxRead: number; partSize: number },
): AsyncGenerator<CursorPage<LoggedEvent>> {
  const from = firstUlid(earliest(clock(), filter));
  const to = least(
    filter.until === undefined ? '~' : ulidUntil(filter.until),
    before ? justBefore(ulidOf(before)) : '~',
  );
  const condition = conditionOf(filter);
  const pageItems = condition ? filteredQueryEvents : partSize;
  const range = {
    pk: keys.events(organization),
    from,
    to: least(to, lastUlid(maxTime)),
    limit: maxRead,
    pageItems,
  };
  if (range.from > range.to) return;
  for await (const { items, lastRead } of queryPages(table, range, condition))
    yield {
      items: items.map(eventFrom).filter((event) => matches(event, filter)),
      next: lastRead === undefined ? null : `ev_${lastRead}`,
    };
}

/**
 * Returns the first page of a list that is read in parts. `next` is the position of the last item of a full page, or where
 * the list continues after the last part.
 */
export async function pageFromParts<Item>(
  parts: AsyncIterable<CursorPage<Item>>,
  limit: number,
  positionOf: (item: Item) => string,
): Promise<CursorPage<Item>> {
  const found: Item[] = [];
  let next: string | null = null;
  for await (const part of parts) {
    found.push(...part.items);
    next = part.next;
    if (found.length > limit) break;
  }
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? positionOf(items.at(-1) as Item) : next };
}

/**
 * Returns the events of an organization after a position that match a filter, in the order of their positions, and the
 * position after the page. Followers that continue there see every event at least once. A position that is too far in the
 * future, from a clock that was ahead, counts as the newest one that followers can see.
 *
 * @param after the id of an event, or `next` of a page
 * @param newest the greatest position of the log, if the caller knows it
 */
export async function followEvents(
  { table, clock }: FeedContext,
  organization: Organization,
  { after, limit, filter, newest }: { after: string; limit: number; filter: EventFilter; newest?: string | undefined },
): Promise<CursorPage<LoggedEvent>> {
  // Before all reads: they see every position up to this one.
  const now = clock();
  const visible = lastUlid(now - followDelayMs);
  const horizon = newest === undefined ? visible : least(visible, newest);
  if (isTooFarAhead(timeOf(ulidOf(after)), now, 0)) return { items: [], next: `ev_${horizon}` };
  let position = greatest(ulidOf(after), lastUlid(earliest(now, filter) - 1));
  if (position >= horizon) return { items: [], next: after };
  const page = new Map<string, LoggedEvent>();
  for (let remaining = maxEventsRead; remaining > 0 && position < horizon; ) {
    const wanted = limit - page.size;
    const part = await readPart(table, organization, { position, horizon, wanted, remaining, filter });
    remaining -= Math.max(part.read, 1);
    position = part.end;
    for (const { event, position: own } of part.events) {
      // A late event of the page may also have been read at its id.
      if (!page.has(event.id)) page.set(event.id, event);
      if (page.size === limit) return { items: [...page.values()], next: `ev_${own}` };
    }
  }
  return { items: [...page.values()], next: `ev_${position}` };
}

/** A part of the feed: its matching events with their positions in order, its last position, and how many were read. */
type FeedPart = { events: { position: string; event: LoggedEvent }[]; end: string; read: number };

/** Reads a part of the feed after a position. */
async function readPart(
  table: TableContext['table'],
  organization: Organization,
  {
    position,
    horizon,
    wanted,
    remaining,
    filter,
  }: { position: string; horizon: string; wanted: number; remaining: number; filter: EventFilter },
): Promise<FeedPart> {
  const pk = keys.events(organization);
  const condition = conditionOf(filter);
  const limit = Math.min(remaining, condition ? filteredQueryEvents : wanted);
  const from = justAfter(position);
  const to = filter.until === undefined ? horizon : least(horizon, ulidUntil(filter.until));
  const range = { pk, from, to, limit, pageItems: limit, ascending: true };
  const log = from > to ? undefined : (await queryPages(table, range, condition).next()).value;
  const late = await readLateEvents(table, organization, { position, end: log?.lastRead ?? horizon, limit });
  const events = new Map((log?.items ?? []).map((item) => [item.sk as string, eventFrom(item)]));
  const places = [...events.keys()].map((ulid) => ({ position: ulid, ulid }));
  const missing = new Set(late.events.map(({ ulid }) => ulid).filter((ulid) => !events.has(ulid)));
  for (const item of await getItems(
    table,
    [...missing].map((ulid) => keys.event(organization, ulid)),
  ))
    events.set(item.sk as string, eventFrom(item));
  const inOrder = [...places, ...late.events].filter((place) => place.position <= late.end);
  inOrder.sort((a, b) => ascending(a.position, b.position));
  return {
    // A late event can be older than the log.
    events: inOrder.flatMap(({ position, ulid }) => {
      const event = events.get(ulid);
      return event && matches(event, filter) ? [{ position, event }] : [];
    }),
    end: late.end,
    read: (log?.read ?? 0) + late.events.length,
  };
}

/**
 * Yields the late events of an organization after a position and up to a time, with their positions, in groups. Groups are
 * read when they are needed. An event that was listed again comes again.
 *
 * @param to Unix time in ms, included
 * @param size the maximum number of events in a group
 */
export async function* readLateEventGroups(
  { table }: TableContext,
  organization: Organization,
  { after, to, size }: { after: string; to: number; size: number },
): AsyncGenerator<{ position: string; event: LoggedEvent }[]> {
  const end = lastUlid(to);
  for (let position = after; position < end; ) {
    const late = await readLateEvents(table, organization, { position, end, limit: size });
    const ulids = [...new Set(late.events.map(({ ulid }) => ulid))];
    const items = await getItems(
      table,
      ulids.map((ulid) => keys.event(organization, ulid)),
    );
    const events = new Map(items.map((item) => [item.sk as string, eventFrom(item)]));
    const group = late.events.flatMap((place) => {
      const event = events.get(place.ulid);
      return event ? [{ position: place.position, event }] : [];
    });
    if (group.length > 0) yield group;
    position = late.end;
  }
}

/** Returns late events after a position, up to `end` or to the last one if there are too many. */
async function readLateEvents(
  table: TableContext['table'],
  organization: Organization,
  { position, end, limit }: { position: string; end: string; limit: number },
): Promise<{ events: { position: string; ulid: string }[]; end: string }> {
  const { pk, sk: from } = keys.lateEvents(organization, justAfter(position));
  // The key of an item has its last position.
  const { sk: to } = keys.lateEvents(organization, lastPossiblePosition(end));
  const range = { pk, from, to, limit: Number.POSITIVE_INFINITY, pageItems: lateQueryItems, ascending: true };
  const found: { position: string; ulid: string }[] = [];
  for await (const { items } of queryPages(table, range)) {
    found.push(...items.flatMap(lateEventsOf).filter((event) => event.position > position && event.position <= end));
    if (found.length > limit) break;
  }
  if (found.length <= limit) return { events: found, end };
  const events = found.slice(0, limit);
  return { events, end: (events.at(-1) as { position: string }).position };
}

/** Returns the time from which events are read (Unix time, in ms). */
function earliest(now: number, { since = 0 }: EventFilter): number {
  return Math.min(Math.max(since, Date.parse(firstKeptDay(now))), maxTime);
}

/** Returns the greatest ULID of the end of a range. No event has a time before 1970. */
function ulidUntil(until: number): string {
  return lastUlid(Math.min(Math.max(until, 0), maxTime));
}

const least = (one: string, other: string) => (one < other ? one : other);
const greatest = (one: string, other: string) => (one > other ? one : other);

/** Returns the condition on the items of events that match a filter; `undefined` if only their time counts. */
function conditionOf({ event, task_id: task, execution_id: execution }: EventFilter): Filter | undefined {
  const conditions = [
    ...(event ? ['#event = :event'] : []),
    ...(task ? ['(#item = :task OR contains(#data, :ofTask))'] : []),
    ...(execution ? ['#item = :execution'] : []),
  ];
  if (conditions.length === 0) return undefined;
  return {
    expression: conditions.join(' AND '),
    names: {
      ...(event && { '#event': 'event' }),
      ...((task || execution) && { '#item': 'item' }),
      ...(task && { '#data': 'data' }),
    },
    values: {
      ...(event && { ':event': event }),
      // Quotes in texts are escaped in JSON, so only a field has this form.
      ...(task && { ':task': task, ':ofTask': `"taskId":${JSON.stringify(task)}` }),
      ...(execution && { ':execution': execution }),
    },
  };
}

/** Returns whether an event matches a filter. */
function matches(logged: LoggedEvent, { event, task_id: task, execution_id: execution, since, until }: EventFilter) {
  const time = timeOf(ulidOf(logged.id));
  return (
    (since === undefined || time >= since) &&
    (until === undefined || time <= until) &&
    (event === undefined || logged.event === event) &&
    (execution === undefined || logged.item === execution) &&
    (task === undefined || logged.item === task || taskOf(logged) === task)
  );
}

/** Returns the id of the task of an execution or a comment; `undefined` if the event is about something else. */
export function taskOf({ data }: Pick<LoggedEvent, 'data'>): string | undefined {
  const { execution, comment } = JSON.parse(data) as Record<string, { taskId?: string } | undefined>;
  return (execution ?? comment)?.taskId;
}
