import { Option } from '@commander-js/extra-typings';
import { everyItem } from '../../../../lib/client/client.ts';
import { WebhookId } from '../../../../lib/contract/shapes.ts';
import {
  type MissedKind,
  missedKinds,
  type Recovery,
  RecoveryId,
  recoveryRates,
  usualKinds,
} from '../../../../lib/contract/webhooks/recoveries.ts';
import { readBy, wholeNumber } from '../../command.ts';
import { printJson } from '../../json.ts';
import { exitCodes } from '../../run-program.ts';
import { allOption, apiCommand, limitOption } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { readEventNames, readKinds } from '../names.ts';
import { printPage, requestPage, type Shape } from '../pages.ts';
import { readTime } from '../times.ts';
import { followRecovery } from './follow-recovery.ts';
import { exampleWebhookId } from './webhook-id.ts';

/** `crewboard webhooks recover`: sends missed events. */
export const recover = apiCommand(
  'recover',
  'Send the events that a webhook has missed, and show the progress',
  `webhooks recover ${exampleWebhookId} --since 1h --dry-run`,
  `webhooks recover ${exampleWebhookId} --since 2026-11-22T00:00:00Z --include exhausted`,
)
  .description(
    [
      'Send the events of a time range that a webhook has missed, oldest first, and show the progress. The recovery continues',
      'if this command is stopped; `webhooks cancel-recovery` ends it. The exit code is 1 if an attempt fails; it is retried.',
    ].join(' '),
  )
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .requiredOption('--since <time>', 'the time of the first event, such as 1h (ago) or 2026-11-22T00:00:00Z', readTime)
  .option('--until <time>', 'the time of the last event (default: now)', readTime)
  .addOption(new Option('--events <list>', 'only these events, separated by commas').argParser(readEventNames))
  .addOption(
    new Option('--include <list>', `the kinds of events, separated by commas: ${missedKinds.join(', ')}`)
      .argParser(readKinds)
      .default([...usualKinds] as MissedKind[], usualKinds.join(', ')),
  )
  .option('--rate <number>', 'the maximum number of events in a second', wholeNumber(recoveryRates.most))
  .option('--dry-run', 'only count the events')
  .action(async (id, { since, until, events, include, rate, dryRun, ...options }, command) => {
    const client = connect(options, command);
    const body = { since, until, events, include, ratePerSecond: rate, dryRun };
    const { data: started } = await client.recoverWebhook({ params: { id }, body });
    const { matched, matchedByKind, leftOut, recoveryId } = started;
    if (recoveryId === undefined) {
      if (options.json) return printJson({ data: started });
      const counted = countedText({ ...matchedByKind, ...leftOut });
      return console.log(
        `${matched} ${matched === 1 ? 'event' : 'events'} ${dryRun ? 'would be' : 'are'} sent.${counted && ` Of the range: ${counted}.`}`,
      );
    }
    const recovery = await followRecovery(client, { id, recoveryId });
    if (recovery.failed > 0 || recovery.state === 'cancelled') process.exitCode = exitCodes.failed;
    printRecovery(recovery, options);
  });

/** Returns the numbers that are not 0, each with its name. */
const countedText = (numbers: Record<string, number>) =>
  Object.entries(numbers)
    .filter(([, number]) => number > 0)
    .map(([name, number]) => `${number} ${name}`)
    .join(', ');

function printRecovery(recovery: Recovery, options: { json?: true | undefined }): void {
  const rows = [
    ['recovery', recovery.id],
    ['state', recovery.state],
    ['matched', String(recovery.matched)],
    ['sent', String(recovery.sent)],
    ['delivered', String(recovery.delivered)],
    ['failed', String(recovery.failed)],
  ] as const;
  printDetail(recovery, rows, options);
}

const recoveryShape: Shape<Recovery> = {
  columns: {
    id: ({ id }) => id,
    state: ({ state }) => state,
    since: ({ since }) => since,
    until: ({ until }) => until,
    matched: ({ matched }) => String(matched),
    delivered: ({ delivered }) => String(delivered),
    failed: ({ failed }) => String(failed),
  },
  flexible: 'until',
};

/** `crewboard webhooks recoveries`: lists the recoveries of a webhook. */
export const recoveries = apiCommand(
  'recoveries',
  'List the recoveries of a webhook, newest first',
  `webhooks recoveries ${exampleWebhookId}`,
)
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .addOption(limitOption())
  .addOption(allOption())
  .action(async (id, options, command) => {
    const client = connect(options, command);
    const page = await requestPage(
      options,
      (limit) => client.listRecoveries({ params: { id }, query: { limit } }),
      () => everyItem(client.listRecoveries, { params: { id } }),
    );
    printPage(page, 'recovery', recoveryShape, options);
  });

/** `crewboard webhooks cancel-recovery`: stops a recovery. */
export const cancelRecoveryCommand = apiCommand(
  'cancel-recovery',
  'Stop a recovery: no further attempt of it is made',
  `webhooks cancel-recovery ${exampleWebhookId} rc_01K00000000000000000000000`,
)
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .argument('<recovery>', 'the id of the recovery', readBy(RecoveryId))
  .action(async (id, recoveryId, options, command) => {
    const { data } = await connect(options, command).cancelRecovery({ params: { id, recoveryId } });
    printRecovery(data, options);
  });
