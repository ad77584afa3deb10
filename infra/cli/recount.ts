import { isDeepStrictEqual } from 'node:util';
import { timestamp } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { Refusal } from '../../lib/contract/refusals.ts';
import type { Table } from '../../lib/table/client.ts';
import { type Difference, putRight, recount } from '../../lib/table/recount.ts';
import { Problem } from '../local/problem.ts';
import { wordsFor } from './aws-faults.ts';
import { command, organizationOption, stackOption, tableOption } from './command.ts';
import { openTableOf } from './deployments.ts';
import { organizationsOf } from './organizations.ts';
import { withProgress } from './progress.ts';

/** `npm run recount`: compares what is derived in the table with what its items imply, and puts it right if asked. */
export const recountCommand = command(
  'recount',
  'Tell which lists and numbers of an organization are wrong, and put them right',
  'npm run --silent recount -- --org acme',
  'npm run --silent recount -- --all --table crewboard-restored --fix',
)
  .description(
    [
      'Tell which lists, numbers and dependents of an organization are not as its items imply, as after a restore, and put',
      'them right. It reads the whole table, for each organization anew. It ends with code 1 where something differs and was not put right.',
      'What others write to the table while --fix does is lost from lists and numbers, never from the items; the next',
      'recount finds it.',
    ].join(' '),
  )
  .addOption(organizationOption().makeOptionMandatory(false).conflicts('all'))
  .option('--all', 'all organizations instead, one after the other')
  .option('--fix', 'put them right; stop what writes to the table first')
  .addOption(stackOption().conflicts('table'))
  .addOption(tableOption())
  .action(async ({ org, all, fix = false, stack, table: named }) => {
    if (!org && !all) throw new Problem('Name an organization by --org NAME, or take all of them by --all.');
    const table = await openTableOf({ stack, table: named });
    const organizations = org ? [org] : (await organizationsOf(table)).map(({ organization }) => organization);
    if (organizations.length === 0) console.log('There are no organizations.');
    for (const organization of organizations) await recountOne(table, organization, fix);
  });

/** Recounts an organization, and says what differs. */
async function recountOne(table: Table, organization: Organization, fix: boolean): Promise<void> {
  const now = timestamp(Date.now());
  const differences = await counted(table, organization, now);
  if (differences.length === 0) return console.log(`${organization} is as its items imply.`);
  const told = `${differences.map(lineOf).join('\n')}\n${organization} has ${numbered(differences.length)}.`;
  if (!fix) {
    process.exitCode = 1;
    return console.log(`${told} Nothing was written; --fix puts them right, once nothing else writes to the table.`);
  }
  await repair(table, differences, { organization, now, told });
  console.log(`${told} All were put right.`);
}

/** Puts differences right, where they are still the same. */
async function repair(
  table: Table,
  differences: readonly Difference[],
  { organization, now, told }: { organization: Organization; now: string; told: string },
): Promise<void> {
  // What writers do between two requests looks like a fault; counted again it looks like another.
  if (!isDeepStrictEqual(await counted(table, organization, now), differences))
    throw new Problem(
      `${told}\nNothing was written: counted again they were others, so something writes to the table. Stop it first.`,
    );
  await withProgress('Putting right', (tell) =>
    putRight(table, differences, (count) => tell(`${count} of ${differences.length} put right`)),
  );
  const left = await counted(table, organization, now);
  if (left.length > 0)
    throw new Problem(
      `${told}\nThey were put right, but ${numbered(left.length)} came up meanwhile: something writes to the table. Stop it, and run this again.`,
    );
}

async function counted(table: Table, organization: Organization, now: string): Promise<Difference[]> {
  try {
    return await withProgress('Reading the table', (tell) =>
      recount(table, organization, now, (count) => tell(`${count.toLocaleString('en')} items of the table read`)),
    );
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Problem(`The table ${table.name} cannot be read: ${wordsFor(error)}`);
  }
}

const numbered = (count: number) => (count === 1 ? '1 difference' : `${count} differences`);

/** A difference in a line: what is wrong, the key, and what stands and should, without the key. */
function lineOf(difference: Difference): string {
  const { key, stands, implied } = difference;
  const name = `${key.pk} ${key.sk}`;
  if (difference.of === 'dependents') return `dependents  ${name}  ${shown(stands)} should be ${shown(implied)}`;
  if (!stands) return `missing     ${name}  ${shown(implied)}`;
  if (!implied) return `unexpected  ${name}  ${shown(stands)}`;
  return `wrong       ${name}  ${shown(stands)} should be ${shown(implied)}`;
}

function shown(value: unknown): string {
  return JSON.stringify(value, (name, inner) => (name === 'pk' || name === 'sk' ? undefined : inner));
}
