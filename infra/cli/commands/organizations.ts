import type { Table } from '../../../lib/table/client.ts';
import { listOrganizations, type OrganizationSummary } from '../../../lib/table/organizations/organizations.ts';
import { Problem } from '../../local/problem.ts';
import { columns } from '../columns.ts';
import { command, jsonOption, stackOption, tableOption } from '../command.ts';
import { openDeploymentTable } from '../deployments.ts';
import { printJson } from '../json.ts';
import { withProgress } from '../progress.ts';
import { awsErrorMessage } from '../stack/aws-errors.ts';

const list = command(
  'list',
  'List all organizations',
  'npm run --silent orgs -- list',
  'npm run --silent orgs -- list --stack Crewboard',
  'npm run --silent orgs -- list --table crewboard-restored',
)
  .description(
    'List all organizations with the time of their first token and the number of tokens that are neither revoked nor expired. Reads the whole table.',
  )
  .addOption(stackOption().conflicts('table'))
  .addOption(tableOption())
  .addOption(jsonOption())
  .action(async ({ json, ...options }) => {
    const found = await organizationsOf(await openDeploymentTable(options));
    if (json) return printJson({ data: found });
    const rows = found.map(({ organization, since, activeTokens }) => [organization, since, String(activeTokens)]);
    console.log(
      rows.length > 0 ? columns([['organization', 'since', 'active tokens'], ...rows]) : 'There are no organizations.',
    );
  });

/** `npm run orgs`: lists the organizations of a deployment. */
export const orgs = command(
  'orgs',
  'List the organizations of a deployment',
  'npm run --silent crewboard -- orgs list',
).addCommand(list);

/**
 * Returns the organizations of a table. Shows progress meanwhile.
 *
 * @throws `Problem` if the table cannot be read
 */
export async function organizationsOf(table: Table): Promise<OrganizationSummary[]> {
  try {
    return await withProgress('Reading the table', (report) =>
      listOrganizations(table, Date.now(), (count) => report(`${count.toLocaleString('en')} items of the table read`)),
    );
  } catch (error) {
    throw new Problem(`The table ${table.name} cannot be read: ${awsErrorMessage(error)}`);
  }
}
