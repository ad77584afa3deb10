import { Argument } from '@commander-js/extra-typings';
import { timestamp } from '../../../lib/contract/ids.ts';
import { columns } from '../columns.ts';
import { command, jsonOption, stackOption, wholeNumber } from '../command.ts';
import { type Kind, kindOf, kinds, redrivable } from '../dead-letters/dead-letter-kinds.ts';
import { type ReceivedDeadLetter, withReceivedMessages } from '../dead-letters/received-messages.ts';
import { redrive, redriveVisibilitySeconds } from '../dead-letters/redrive.ts';
import { printJson } from '../json.ts';
import { type OperatorOperation, operate } from '../operation.ts';
import { withProgress } from '../progress.ts';

/** The visibility timeout of dead letters while they are listed. */
const listVisibilitySeconds = 5 * 60;

const list = command(
  'list',
  'Count the dead letters of each kind, with the time of the oldest',
  'npm run --silent crewboard -- dead-letters list',
  'npm run --silent crewboard -- dead-letters list --stack Crewboard',
)
  .addOption(stackOption())
  .addOption(jsonOption())
  .action(
    operate(async (operation, { json }) => {
      const { print } = operation.terminal;
      const deadLetters = await readDeadLetters(operation);
      const counts = kinds.map((kind) => {
        const [oldest, ...more] = deadLetters.filter(({ body }) => kindOf(body) === kind);
        return oldest ? { kind, count: 1 + more.length, oldestSentAt: timestamp(oldest.sentAt) } : { kind, count: 0 };
      });
      if (json) return printJson({ data: counts }, print);
      const rows = counts.map(({ kind, count, oldestSentAt = '' }) => [kind, String(count), oldestSentAt]);
      print(columns([['kind', 'dead letters', 'oldest sent'], ...rows]));
    }),
  );

const show = command(
  'show',
  'Show dead letters, oldest first, without removing them',
  'npm run --silent crewboard -- dead-letters show',
  'npm run --silent crewboard -- dead-letters show deliveries --limit 3',
)
  .addArgument(new Argument('[kind]', 'the kind (default: all kinds)').choices(kinds))
  .option('--limit <number>', 'the highest number of dead letters, 1 to 9999', wholeNumber(9999), 10)
  .addOption(stackOption())
  .addOption(jsonOption())
  .action(
    operate(async (operation, kind, { limit, json }) => {
      const { print } = operation.terminal;
      const all = await readDeadLetters(operation);
      const found = all
        .map(({ id, sentAt, body }) => ({ id, kind: kindOf(body), sentAt: timestamp(sentAt), body }))
        .filter((one) => kind === undefined || one.kind === kind)
        .slice(0, limit);
      if (json) return printJson({ data: found }, print);
      const lines = found.map((one) => `${one.sentAt}  ${one.kind}  ${one.id}\n  ${one.body}`);
      print(lines.length > 0 ? lines.join('\n') : none(kind));
    }),
  );

const redriveCommand = command(
  'redrive',
  'Redrive dead letters: send them to be handled again',
  'npm run --silent crewboard -- dead-letters redrive',
  'npm run --silent crewboard -- dead-letters redrive changes --stack Crewboard',
)
  .description(
    [
      'Redrive dead letters. First find and correct the cause of their failure.',
      'Messages are sent to their queue again, and changes to the publisher; then the dead letter is deleted.',
      'A message that fails again becomes a dead letter again. Unreadable dead letters stay.',
    ].join(' '),
  )
  .addArgument(new Argument('[kind]', 'the kind (default: all kinds)').choices(redrivable))
  .addOption(stackOption())
  .action(
    operate(async ({ terminal, findTargets }, kind) => {
      const targets = await findTargets();
      const { done, setAside, failed } = await withProgress(terminal, 'Reading the dead letters', (report) =>
        redrive(targets, kind ? [kind] : kinds, report),
      );
      if (done.length + setAside + failed.length === 0) return terminal.print(none(kind));
      if (failed.length + setAside > 0) terminal.exit(1);
      const counts = redrivable.map((of) => [of, done.filter((one) => one === of).length] as const);
      const countsText = counts.filter(([, count]) => count > 0).map(([of, count]) => `${of} ${count}`);
      terminal.print(
        [
          `${done.length} redriven${countsText.length > 0 ? ` (${countsText.join(', ')})` : ''}, ${setAside} set aside again, ${failed.length} failed.`,
          ...failed.map((error) => `  ${error}`),
          'Run list later: a message that fails again is a dead letter again.',
        ].join('\n'),
      );
    }),
  );

const drop = command(
  'drop',
  'Delete the dead letters of a kind permanently',
  'npm run --silent crewboard -- dead-letters drop unreadable',
)
  .addArgument(new Argument('<kind>', 'the kind').choices(kinds))
  .addOption(stackOption())
  .action(
    operate(async ({ terminal, findTargets }, kind) => {
      const { sqs, urls } = await findTargets();
      const dropped = await withProgress(terminal, 'Reading the dead letters', (report) => {
        const options = { visibilitySeconds: redriveVisibilitySeconds, report };
        return withReceivedMessages(sqs, urls.deadLetters, options, async (received, deleteMessage) => {
          const all = received.filter(({ body }) => kindOf(body) === kind);
          for (const deadLetter of all) await deleteMessage(deadLetter);
          return all.length;
        });
      });
      terminal.print(dropped > 0 ? `${dropped} dropped.` : none(kind));
    }),
  );

/** `npm run crewboard -- dead-letters`: messages that failed repeatedly because of a bug or an outage. */
export const deadLetters = command(
  'dead-letters',
  'List, show, redrive and delete messages that failed repeatedly because of a bug or an outage',
  'npm run --silent crewboard -- dead-letters list',
  'npm run --silent crewboard -- dead-letters redrive deliveries --stack Crewboard',
)
  .addCommand(list)
  .addCommand(show)
  .addCommand(redriveCommand)
  .addCommand(drop);

/** Returns all dead letters, which stay in the queue. */
async function readDeadLetters({ terminal, findTargets }: OperatorOperation): Promise<readonly ReceivedDeadLetter[]> {
  const { sqs, urls } = await findTargets();
  return withProgress(terminal, 'Reading the dead letters', (report) => {
    const options = { visibilitySeconds: listVisibilitySeconds, report };
    return withReceivedMessages(sqs, urls.deadLetters, options, async (received) => received);
  });
}

function none(kind: Kind | undefined): string {
  return kind === undefined ? 'There are no dead letters.' : `There are no dead letters of the kind ${kind}.`;
}
