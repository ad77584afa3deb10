import type { Context } from '../../../lib/context/context.ts';
import { listOrganizations, type OrganizationSummary } from '../../../lib/table/organizations/organizations.ts';
import { awsErrorMessage } from '../../aws/deployed/aws-errors.ts';
import type { Terminal } from '../../local/commands/messages.ts';
import { Problem } from '../../problem.ts';
import { columns } from '../columns.ts';
import { command, jsonOption, stackOption, tableOption } from '../command.ts';
import { printJson } from '../json.ts';
import { operate } from '../operation.ts';
import { withProgress } from '../progress.ts';

const list = command(
  'list',
  'List all organizations',
  'npm run --silent crewboard -- orgs list',
  'npm run --silent crewboard -- orgs list --stack Crewboard',
  'npm run --silent crewboard -- orgs list --table crewboard-restored',
)
  .description(
    'List all organizations with the time of their first token and the number of tokens that are neither revoked nor expired. Reads the whole table.',
  )
  .addOption(stackOption().conflicts('table'))
  .addOption(tableOption())
  .addOption(jsonOption())
  .action(
    operate(async ({ terminal, createContext }, { json }) => {
      const found = await organizationsOf(await createContext(), terminal);
      if (json) return printJson({ data: found }, terminal.print);
      const rows = found.map(({ organization, since, activeTokens }) => [organization, since, String(activeTokens)]);
      terminal.print(
        rows.length > 0
          ? columns([['organization', 'since', 'active tokens'], ...rows])
          : 'There are no organizations.',
      );
    }),
  );

/** `npm run crewboard -- orgs`: lists the organizations of a deployment. */
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
export async function organizationsOf(
  { table, clock }: Pick<Context, 'table' | 'clock'>,
  terminal: Terminal,
): Promise<OrganizationSummary[]> {
  try {
    return await withProgress(terminal, 'Reading the table', (report) =>
      listOrganizations(table, clock(), (count) => report(`${count.toLocaleString('en')} items of the table read`)),
    );
  } catch (error) {
    throw new Problem(`The table ${table.name} cannot be read: ${awsErrorMessage(error)}`);
  }
}
