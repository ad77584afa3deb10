import { Argument } from '@commander-js/extra-typings';
import { timestamp } from '../../../lib/contract/ids.ts';
import { columns } from '../columns.ts';
import { command, stackOption, wholeNumber } from '../command.ts';
import { type Kind, kindOf, kinds, redrivable } from '../dead-letters/dead-letter-kinds.ts';
import { openDeadLetters } from '../dead-letters/publisher.ts';
import { type Held, withHeld } from '../dead-letters/received-messages.ts';
import { heldSeconds, redrive } from '../dead-letters/redrive.ts';
import { withProgress } from '../progress.ts';

/** While they are looked at: nobody else handles dead letters but another operator. */
const lookedAtSeconds = 5 * 60;

const list = command(
  'list',
  'Show how many dead letters there are of each kind, and since when',
  'npm run --silent dead-letters -- list',
  'npm run --silent dead-letters -- list --stack Crewboard',
)
  .addOption(stackOption())
  .action(async ({ stack }) => {
    const letters = await look(stack);
    const rows = kinds.map((kind) => {
      const [oldest, ...more] = letters.filter(({ body }) => kindOf(body) === kind);
      return oldest ? [kind, String(1 + more.length), timestamp(oldest.sentAt)] : [kind, '0', ''];
    });
    console.log(columns([['kind', 'dead letters', 'oldest sent'], ...rows]));
  });

const show = command(
  'show',
  'Show dead letters, oldest first, and leave them where they are',
  'npm run --silent dead-letters -- show',
  'npm run --silent dead-letters -- show deliveries --limit 3',
)
  .addArgument(new Argument('[kind]', 'of which kind; all unless it is given').choices(kinds))
  .option('--limit <number>', 'how many at most, 1 to 9999', wholeNumber(9999), 10)
  .addOption(stackOption())
  .action(async (kind, { stack, limit }) => {
    const letters = (await look(stack)).filter(({ body }) => kind === undefined || kindOf(body) === kind);
    const lines = letters
      .slice(0, limit)
      .map(({ id, sentAt, body }) => `${timestamp(sentAt)}  ${kindOf(body)}  ${id}\n  ${body}`);
    console.log(lines.length > 0 ? lines.join('\n') : none(kind));
  });

const redriveCommand = command(
  'redrive',
  'Have dead letters handled once more',
  'npm run --silent dead-letters -- redrive',
  'npm run --silent dead-letters -- redrive changes --stack Crewboard',
)
  .description(
    [
      'Have dead letters handled once more; first find why they are there, and mend it.',
      'Messages are sent to their queue again, changes are handed to the publisher, each deleted once that is done.',
      'What fails again is among the dead letters again. What is unreadable stays.',
    ].join(' '),
  )
  .addArgument(new Argument('[kind]', 'of which kind; all unless it is given').choices(redrivable))
  .addOption(stackOption())
  .action(async (kind, { stack }) => {
    const letters = await openDeadLetters(stack);
    const { done, setAside, failed } = await withProgress('Reading the dead letters', (tell) =>
      redrive(letters, kind ? [kind] : kinds, tell),
    );
    if (done.length + setAside + failed.length === 0) return console.log(none(kind));
    if (failed.length + setAside > 0) process.exitCode = 1;
    const counts = redrivable.map((of) => [of, done.filter((one) => one === of).length] as const);
    const told = counts.filter(([, count]) => count > 0).map(([of, count]) => `${of} ${count}`);
    console.log(
      [
        `${done.length} redriven${told.length > 0 ? ` (${told.join(', ')})` : ''}, ${setAside} set aside again, ${failed.length} failed.`,
        ...failed.map((fault) => `  ${fault}`),
        'Only what was redriven has left; what fails again comes back, list tells.',
      ].join('\n'),
    );
  });

const drop = command(
  'drop',
  'Delete the dead letters of a kind, for good',
  'npm run --silent dead-letters -- drop unreadable',
)
  .addArgument(new Argument('<kind>', 'of which kind').choices(kinds))
  .addOption(stackOption())
  .action(async (kind, { stack }) => {
    const { sqs, urls } = await openDeadLetters(stack);
    const dropped = await withProgress('Reading the dead letters', (tell) =>
      withHeld(sqs, urls.deadLetters, { heldSeconds, tell }, async (held, finish) => {
        const all = held.filter(({ body }) => kindOf(body) === kind);
        for (const letter of all) await finish(letter);
        return all.length;
      }),
    );
    console.log(dropped > 0 ? `${dropped} dropped.` : none(kind));
  });

/** `npm run dead-letters`: what our own faults have left undone, and another try for it once they are mended. */
export const deadLetters = command(
  'dead-letters',
  'List, show, redrive and drop what our own faults have left undone',
  'npm run --silent dead-letters -- list',
  'npm run --silent dead-letters -- redrive deliveries --stack Crewboard',
)
  .addCommand(list)
  .addCommand(show)
  .addCommand(redriveCommand)
  .addCommand(drop);

/** All dead letters, which stay where they are. */
async function look(stack: string | undefined): Promise<readonly Held[]> {
  const { sqs, urls } = await openDeadLetters(stack);
  return withProgress('Reading the dead letters', (tell) =>
    withHeld(sqs, urls.deadLetters, { heldSeconds: lookedAtSeconds, tell }, async (held) => held),
  );
}

function none(kind: Kind | undefined): string {
  return kind === undefined ? 'There are no dead letters.' : `There are no dead letters of the kind ${kind}.`;
}
