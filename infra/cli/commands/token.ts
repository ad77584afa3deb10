import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type Scope, scopes } from '../../../lib/contract/endpoint.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { codePoints } from '../../../lib/contract/texts/code-points.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { readToken } from '../../../lib/http/token.ts';
import type { TableContext } from '../../../lib/table/access/client.ts';
import { readTokenUses } from '../../../lib/table/organizations/token-uses.ts';
import { readStoredTokens, revokeStoredToken } from '../../../lib/table/organizations/tokens.ts';
import { columns } from '../columns.ts';
import { command, jsonOption, organizationOption, stackOption, wholeNumber } from '../command.ts';
import { printJson } from '../json.ts';
import { operate } from '../operation.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** The longest name of a token, in characters. */
const maxNameLength = 64;

const create = command(
  'create',
  'Create an access token and print it',
  'npm run --silent crewboard -- token create --org acme --name ci',
  'npm run --silent crewboard -- token create --org acme --name "Ada Lovelace" --person',
  'npm run --silent crewboard -- token create --org acme --scopes tasks:read,tasks:write --expires-in-days 90',
  'npm run --silent crewboard -- token create --org acme --stack Crewboard',
)
  .description(
    'Create an access token and print it. It cannot be shown again, because only its hash is stored. Creating the first token creates the organization.',
  )
  .addOption(organizationOption())
  .addOption(
    new Option('--scopes <list>', `its scopes, separated by commas: ${scopes.join(', ')}`)
      .argParser(readScopes)
      .default(scopes, 'all scopes'),
  )
  .option('--name <name>', `what it is for, at most ${maxNameLength} characters`, readName)
  .option('--person', 'it is for a person: comments and histories name a person, and not a program')
  .option('--expires-in-days <days>', 'days until it expires, 1 to 99999 (default: never)', wholeNumber(99_999))
  .addOption(stackOption())
  .action(
    operate(
      async ({ terminal, createContext }, { org: organization, scopes: allowed, expiresInDays: days, ...asked }) => {
        const context = await createContext();
        const expires = days && timestamp(context.clock() + days * dayMs);
        const { name, person } = asked;
        const request = { organization, name, person, scopes: allowed, ...(expires && { expires }) };
        terminal.print(await issueToken(context, request));
      },
    ),
  );

const list = command(
  'list',
  'List the access tokens of an organization, without their secrets',
  'npm run --silent crewboard -- token list --org acme',
  'npm run --silent crewboard -- token list --org acme --json',
)
  .description(
    'List the access tokens of an organization, oldest first, including revoked and expired ones. Their secrets are not stored. A use is noted at most once an hour: the last use may be up to an hour later.',
  )
  .addOption(organizationOption())
  .addOption(stackOption())
  .addOption(jsonOption())
  .action(
    operate(async ({ terminal, createContext }, { org, json }) => {
      const tokens = await listTokens(await createContext(), org);
      if (json) return printJson({ data: tokens }, terminal.print);
      const rows = tokens.map(({ id, name, createdAt, lastUsedAt, expires, revokedAt, scopes: allowed }) => [
        id,
        name ?? '-',
        createdAt,
        lastUsedAt ?? 'never',
        expires ?? 'never',
        revokedAt ?? 'no',
        allowed.length === scopes.length ? 'every scope' : allowed.join(','),
      ]);
      terminal.print(
        rows.length > 0
          ? columns([['id', 'name', 'created', 'last used', 'expires', 'revoked', 'scopes'], ...rows])
          : `The organization ${org} has no tokens.`,
      );
    }),
  );

/** Returns the tokens of an organization without the hashes of their secrets, the oldest first. */
async function listTokens(context: TableContext, organization: Organization) {
  const tokens = await readStoredTokens(context, organization);
  const uses = await readTokenUses(context, organization);
  return tokens.map(({ id, name, person, scopes: allowed, createdAt, expires, revokedAt }) => {
    return { id, name, person, scopes: allowed, createdAt, lastUsedAt: uses.get(id), expires, revokedAt };
  });
}

const revoke = command('revoke', 'Revoke an access token', 'npm run --silent crewboard -- token revoke TOKEN-OR-ID')
  .description('Revoke an access token permanently. Within 30 seconds all requests with it are rejected.')
  .argument('<token>', 'the token, or its id from list')
  .addOption(stackOption())
  .action(
    operate(async ({ terminal, createContext }, subject) => {
      const context = await createContext();
      await revokeStoredToken(context, readToken(subject)?.id ?? subject, timestamp(context.clock()));
      terminal.print('Revoked. Within 30 seconds all requests with this token are rejected.');
    }),
  );

/** `npm run crewboard -- token`: creates, lists and revokes access tokens (docs/architecture.md#access-tokens). */
export const token = command(
  'token',
  'Create, list and revoke access tokens',
  'npm run --silent crewboard -- token create --org acme --scopes tasks:read',
  'npm run --silent crewboard -- token list --org acme',
)
  .addCommand(create)
  .addCommand(list)
  .addCommand(revoke);

function readScopes(given: string): readonly Scope[] {
  const asked = given.split(',').map((scope) => scope.trim());
  const unknown = asked.filter((scope) => !(scopes as readonly string[]).includes(scope));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`Unknown scope ${unknown.join(', ')}; use ${scopes.join(', ')}.`);
  return [...new Set(asked as Scope[])];
}

function readName(given: string): string {
  const name = given.trim();
  // One line of plain text: it is a column of the list.
  if (name === '' || codePoints(name) > maxNameLength || /\p{Cc}/u.test(name))
    throw new InvalidArgumentError(`It must have 1 to ${maxNameLength} characters in one line.`);
  return name;
}
