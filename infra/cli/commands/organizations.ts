import type { Table } from '../../../lib/table/client.ts';
import { listOrganizations, type OrganizationSummary } from '../../../lib/table/organizations.ts';
import { Problem } from '../../local/problem.ts';
import { columns } from '../columns.ts';
import { command, stackOption, tableOption } from '../command.ts';
import { openTableOf } from '../deployments.ts';
import { withProgress } from '../progress.ts';
import { wordsFor } from '../stack/aws-errors.ts';

const list = command(
  'list',
  'List all organizations',
  'npm run --silent orgs -- list',
  'npm run --silent orgs -- list --stack Crewboard',
  'npm run --silent orgs -- list --table crewboard-restored',
)
  .description(
    'List all organizations: since when each has tokens, and how many of them are neither revoked nor expired. It reads the whole table.',
  )
  .addOption(stackOption().conflicts('table'))
  .addOption(tableOption())
  .action(async (options) => {
    const found = await organizationsOf(await openTableOf(options));
    const rows = found.map(({ organization, since, activeTokens }) => [organization, since, String(activeTokens)]);
    console.log(
      rows.length > 0 ? columns([['organization', 'since', 'active tokens'], ...rows]) : 'There are no organizations.',
    );
  });

/** `npm run orgs`: the organizations of a deployment. */
export const orgs = command(
  'orgs',
  'List the organizations that there are',
  'npm run --silent crewboard -- orgs list',
).addCommand(list);

/**
 * The organizations of a table, while progress is shown.
 *
 * @throws `Problem` where the table cannot be read
 */
export async function organizationsOf(table: Table): Promise<OrganizationSummary[]> {
  try {
    return await withProgress('Reading the table', (tell) =>
      listOrganizations(table, Date.now(), (count) => tell(`${count.toLocaleString('en')} items of the table read`)),
    );
  } catch (error) {
    throw new Problem(`The table ${table.name} cannot be read: ${wordsFor(error)}`);
  }
}
