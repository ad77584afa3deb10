import { setTimeout } from 'node:timers/promises';
import util from 'node:util';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Event } from '../../../lib/client/operations.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { TaskId } from '../../../lib/contract/tasks/tasks.ts';
import type { EventName, PublicEvent } from '../../../lib/contract/webhooks/events.ts';
import { logLine } from '../../terminal/log-lines.ts';
import { apiCommand } from '../api/api-command.ts';
import { connect } from '../api/connection.ts';
import { readEventNames } from '../api/names.ts';
import { newSecret, secretOption } from '../api/secrets.ts';
import { readDuration } from '../api/times.ts';
import { readBy } from '../command.ts';
import { singleLine } from '../printable.ts';
import { followByRequests } from './follow-events.ts';
import type { LocalReceiver } from './forward.ts';

/** `crewboard listen`: forwards the events of the log to a receiver on this machine. */
export const listen = apiCommand(
  'listen',
  'Forward events to a receiver on your machine',
  'listen --forward-to http://localhost:8080/hook',
  'listen --forward-to http://localhost:8080/hook --events task.created,task.completed --replay 1h',
)
  .description(
    [
      'Follow the event log, and post each event to a receiver on your machine, signed as a delivery. It needs no webhook and',
      'no public URL. A failed attempt is shown and not retried. After a lost connection it continues without a gap. End it',
      'with Ctrl-C.',
    ].join(' '),
  )
  .addOption(forwardToOption())
  .addOption(new Option('--events <list>', 'only these events, separated by commas').argParser(readEventNames))
  .option('--task <id>', 'only events of this task, and of executions on it', readBy(TaskId))
  .addOption(
    new Option('--replay <duration>', 'begin with the events of the last 30s, 15m, 1h or 2d')
      .argParser(readDuration)
      .default(0, 'only new events'),
  )
  .addOption(secretOption('the secret that signs deliveries (default: a new one, which is printed)'))
  .action(async ({ forwardTo, events, task, replay: replayMs, secret: given, ...options }, command) => {
    const secret = given ?? newSecret();
    const receiver: LocalReceiver = { forwardTo, secret };
    const stopping = new AbortController();
    // The second signal ends the process at once.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
    const following = followByRequests({
      connect: () => connect(options, command),
      ...{ events, task, replayMs, clock: Date.now, signal: stopping.signal },
      wait: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }).catch(() => {}),
      onReady: () => {
        console.error(`Forwarding events of ${options.url} to ${forwardTo.href}. End with Ctrl-C.`);
        if (!given) console.error(`Verify deliveries with this secret:\nWEBHOOK_SECRET=${secret}`);
      },
      onLost: (error) => console.error(`The connection is lost; trying again. ${singleLine(error.message)}`),
      onFound: () => console.error('The connection is back; continuing without a gap.'),
    });
    const counts = { delivered: 0, failed: 0 };
    for await (const event of following) counts[(await forward(receiver, event, options)) ? 'delivered' : 'failed']++;
    console.error(`Ended. ${counts.delivered} delivered, ${counts.failed} failed.`);
  });

/** Forwards an event and prints a line about it; returns whether the receiver accepted it. */
async function forward(receiver: LocalReceiver, event: Event, { json }: { json?: true | undefined }) {
  // The sender is loaded only when it is used: it needs a newer Node.js than the other commands.
  const { forwardEvent } = await import('./forward.ts');
  // An event has the same delivery id each time, so that receivers drop duplicates.
  const deliveryId = `dlv_${ulidOf(event.id)}`;
  const outcome = await forwardEvent(receiver, { deliveryId, event: event.event, data: event.data });
  const item = subjectOf(event.data);
  printForwarded(receiver, { id: event.id, deliveryId, event: event.event, item, ...outcome }, json === true);
  return outcome.error === undefined;
}

/** Returns the id of the item that an event is about. */
export function subjectOf(data: PublicEvent['data']): string {
  if ('task' in data) return data.task.id;
  return 'execution' in data ? data.execution.id : data.webhook.id;
}

/** An attempt to post an event to a local receiver. */
export type Forwarded = {
  id?: string;
  deliveryId: string;
  event: EventName;
  item: string;
  httpStatus: number;
  durationMs: number;
  error?: string;
};

/** Prints a line about an attempt: as JSON, or for people as the local service does. */
export function printForwarded({ forwardTo }: LocalReceiver, forwarded: Forwarded, json: boolean): void {
  const { id, deliveryId, event, item, httpStatus, durationMs, error } = forwarded;
  if (json) {
    console.log(JSON.stringify({ data: { id, deliveryId, event, httpStatus, durationMs, error } }));
    return;
  }
  const fields = { event, item, receiver: forwardTo.host, httpStatus, durationMs, error };
  const line = logLine(
    { level: 'info', message: 'message', fields },
    {
      now: Date.now(),
      columns: process.stdout.columns || undefined,
      // Not by a named import: Node.js has it since 20.12.
      style: (format, text) => (isColoured() ? util.styleText(format, text) : text),
    },
  );
  console.log(line);
}

const isColoured = () => process.stdout.isTTY && !process.env.NO_COLOR;

/** Returns the option `--forward-to`. */
export function forwardToOption() {
  return new Option('--forward-to <url>', 'the URL of the receiver').argParser(readUrl).makeOptionMandatory();
}

function readUrl(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new InvalidArgumentError('It must be a URL such as http://localhost:8080/hook.');
  return url;
}
