import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../../lib/contract/errors.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { type Difference, findDifferences, repairDifferences } from '../../../lib/reconcile/differences.ts';
import type { Table } from '../../../lib/table/client.ts';
import { Problem } from '../../local/problem.ts';
import { command, organizationOption, stackOption, tableOption } from '../command.ts';
import { openDeploymentTable } from '../deployments.ts';
import { withProgress } from '../progress.ts';
import { awsErrorMessage } from '../stack/aws-errors.ts';
import { organizationsOf } from './organizations.ts';

/** The command's name in earlier versions. */
const oldName = 'recount';

/** `npm run reconcile`: compares lists and counts with the items, and repairs them with `--fix`. */
export const reconcile = command(
  'reconcile',
  'Compare lists and counts of an organization with its items, and repair them',
  'npm run --silent reconcile -- --org acme',
  'npm run --silent reconcile -- --all --table crewboard-restored --fix',
)
  .alias(oldName)
  .description(
    [
      'Show which lists, counts and dependents of an organization differ from its items, for example after a restore, and',
      'repair them. Reads the whole table for each organization. The exit code is 1 if a difference remains.',
      'Stop all writers before --fix: lists and counts may lose concurrent changes, which the next run finds. Items never',
      'do.',
    ].join(' '),
  )
  .addOption(organizationOption().makeOptionMandatory(false).conflicts('all'))
  .option('--all', 'all organizations, one after the other')
  .option('--fix', 'repair the differences; first stop everything that writes to the table')
  .addOption(stackOption().conflicts('table'))
  .addOption(tableOption())
  .hook('preAction', (_, { parent }) => {
    if (parent?.args[0] === oldName)
      console.error(`${oldName} is now named reconcile; the next release removes the old name.`);
  })
  .action(async ({ org, all, fix = false, stack, table: named }) => {
    if (!org && !all) throw new Problem('Name an organization with --org NAME, or use --all for all organizations.');
    const table = await openDeploymentTable({ stack, table: named });
    const organizations = org ? [org] : (await organizationsOf(table)).map(({ organization }) => organization);
    if (organizations.length === 0) console.log('There are no organizations.');
    for (const organization of organizations) await reconcileOne(table, organization, fix);
  });

/** Compares the lists and counts of an organization with its items, prints the differences, and repairs them if `fix` is set. */
async function reconcileOne(table: Table, organization: Organization, fix: boolean): Promise<void> {
  const now = timestamp(Date.now());
  const differences = await readDifferences(table, organization, now);
  if (differences.length === 0) return console.log(`All lists and counts of ${organization} are correct.`);
  const report = `${differences.map(lineOf).join('\n')}\n${organization} has ${counted(differences)}.`;
  if (!fix) {
    process.exitCode = 1;
    return console.log(
      `${report} Nothing was written. To repair them, stop everything that writes to the table and add --fix.`,
    );
  }
  await repair(table, differences, { organization, now, report });
  console.log(`${report} All are repaired.`);
}

/** Repairs differences if a second reading finds the same ones. */
async function repair(
  table: Table,
  differences: readonly Difference[],
  { organization, now, report }: { organization: Organization; now: string; report: string },
): Promise<void> {
  // A write between two requests looks like a difference. A second reading then finds other differences.
  if (!isDeepStrictEqual(await readDifferences(table, organization, now), differences))
    throw new Problem(
      `${report}\nNothing was written: a second reading found other differences, so something writes to the table. Stop it, and run this command again.`,
    );
  await withProgress('Repairing', (show) =>
    repairDifferences(table, differences, (done) => show(`${done} of ${differences.length} repaired`)),
  );
  const left = await readDifferences(table, organization, now);
  if (left.length > 0)
    throw new Problem(
      `${report}\nThey are repaired, but now there are ${counted(left)}, because something writes to the table. Stop it, and run this command again.`,
    );
}

async function readDifferences(table: Table, organization: Organization, now: string): Promise<Difference[]> {
  try {
    return await withProgress('Reading the table', (show) =>
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
