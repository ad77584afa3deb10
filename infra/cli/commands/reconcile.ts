import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../../lib/contract/errors.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { awsErrorMessage } from '../../aws/deployed/aws-errors.ts';
import type { Terminal } from '../../local/commands/messages.ts';
import { Problem } from '../../problem.ts';
import { command, jsonOption, organizationOption, stackOption, tableOption } from '../command.ts';
import { printJson } from '../json.ts';
import { operate } from '../operation.ts';
import { withProgress } from '../progress.ts';
import { type Difference, findDifferences, repairDifferences } from '../reconcile/differences.ts';
import { exitCodes } from '../run-program.ts';
import { organizationsOf } from './organizations.ts';

/** The command's name in earlier versions. */
const oldName = 'recount';

/** `npm run crewboard -- reconcile`: compares lists and counts with the items, and repairs them with `--fix`. */
export const reconcile = command(
  'reconcile',
  'Compare lists and counts of an organization with its items, and repair them',
  'npm run --silent crewboard -- reconcile --org acme',
  'npm run --silent crewboard -- reconcile --all --table crewboard-restored --fix',
)
  .alias(oldName)
  .description(
    [
      'Show which lists, counts, search entries and dependents of an organization differ from its items, for example after a',
      'restore, and repair them. Reads the whole table for each organization. The exit code is 1 if a difference remains.',
      'Stop all writers before --fix: lists and counts may lose concurrent changes, which the next run finds. Items never',
      'do.',
    ].join(' '),
  )
  .addOption(organizationOption().makeOptionMandatory(false).conflicts('all'))
  .option('--all', 'all organizations, one after the other')
  .option('--fix', 'repair the differences; first stop everything that writes to the table')
  .addOption(stackOption().conflicts('table'))
  .addOption(tableOption())
  .addOption(jsonOption())
  .hook('preAction', (command, { parent }) => {
    const { org, all } = command.opts();
    if (!org && !all) throw new Problem('Name an organization with --org NAME, or use --all for all organizations.');
    // The service, which does not get the old name, does not repeat it.
    if (parent?.args[0] === oldName)
      console.error(`${oldName} is now named reconcile; the next release removes the old name.`);
  })
  .action(
    operate(async ({ terminal, createContext }, { org, fix = false, json }) => {
      const context = await createContext();
      const organizations = org
        ? [org]
        : (await organizationsOf(context, terminal)).map(({ organization }) => organization);
      const results: Result[] = [];
      for (const organization of organizations) {
        const pass = { terminal, table: context.table, organization, now: timestamp(context.clock()) };
        const result = await reconcileOne(pass, fix);
        if (!json) terminal.print(resultText(result));
        results.push(result);
      }
      if (json) printJson({ data: results }, terminal.print);
      else if (results.length === 0) terminal.print('There are no organizations.');
    }),
  );

/** The reconciliation of one organization. */
type Pass = { terminal: Terminal; table: Table; organization: Organization; now: string };

/** What a comparison has found in an organization, and whether the differences are repaired. */
type Result = { organization: Organization; differences: Difference[]; repaired: boolean };

/** Compares the lists and counts of an organization with its items, and repairs them if `fix` is set. */
async function reconcileOne(pass: Pass, fix: boolean): Promise<Result> {
  const differences = await readDifferences(pass);
  const repaired = fix && differences.length > 0;
  if (repaired) await repair(pass, differences);
  else if (differences.length > 0) pass.terminal.exit(exitCodes.failed);
  return { organization: pass.organization, differences, repaired };
}

function resultText({ organization, differences, repaired }: Result): string {
  if (differences.length === 0) return `All lists and counts of ${organization} are correct.`;
  const next = repaired
    ? 'All are repaired.'
    : 'Nothing was written. To repair them, stop everything that writes to the table and add --fix.';
  return `${reportText(organization, differences)} ${next}`;
}

function reportText(organization: Organization, differences: readonly Difference[]): string {
  return `${differences.map(lineOf).join('\n')}\n${organization} has ${counted(differences)}.`;
}

/** Repairs differences if a second reading finds the same ones. */
async function repair(pass: Pass, differences: readonly Difference[]): Promise<void> {
  const { terminal, table, organization } = pass;
  const report = reportText(organization, differences);
  // A write between two requests looks like a difference. A second reading then finds other differences.
  if (!isDeepStrictEqual(await readDifferences(pass), differences))
    throw new Problem(
      `${report}\nNothing was written: a second reading found other differences, so something writes to the table. Stop it, and run this command again.`,
    );
  await withProgress(terminal, 'Repairing', (show) =>
    repairDifferences(table, differences, (done) => show(`${done} of ${differences.length} repaired`)),
  );
  const left = await readDifferences(pass);
  if (left.length > 0)
    throw new Problem(
      `${report}\nThey are repaired, but now there are ${counted(left)}, because something writes to the table. Stop it, and run this command again.`,
    );
}

async function readDifferences({ terminal, table, organization, now }: Pass): Promise<Difference[]> {
  try {
    return await withProgress(terminal, 'Reading the table', (show) =>
      findDifferences(table, organization, now, (items) =>
        show(`${items.toLocaleString('en')} items of the table read`),
      ),
    );
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new Problem(`The table ${table.name} cannot be read: ${awsErrorMessage(error)}`);
  }
}

const counted = ({ length }: readonly Difference[]) => (length === 1 ? '1 difference' : `${length} differences`);

/** Returns a difference in one line: its kind, the key, and the stored and expected values without the key. */
function lineOf(difference: Difference): string {
  const { key, stored, expected } = difference;
  const name = `${key.pk} ${key.sk}`;
  if (difference.of === 'dependents') return `dependents  ${name}  ${shown(stored)} should be ${shown(expected)}`;
  if (!stored) return `missing     ${name}  ${shown(expected)}`;
  if (!expected) return `unexpected  ${name}  ${shown(stored)}`;
  return `wrong       ${name}  ${shown(stored)} should be ${shown(expected)}`;
}

function shown(value: unknown): string {
  return JSON.stringify(value, (name, inner) => (name === 'pk' || name === 'sk' ? undefined : inner));
}
