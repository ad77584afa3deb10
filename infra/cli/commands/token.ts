import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type Scope, scopes } from '../../../lib/contract/endpoint.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { readToken } from '../../../lib/http/token.ts';
import { readStoredTokens, revokeStoredToken } from '../../../lib/table/tokens.ts';
import { columns } from '../columns.ts';
import { command, organizationOption, stackOption, wholeNumber } from '../command.ts';
import { openDeployment } from '../deployments.ts';

const dayMs = 24 * 60 * 60 * 1000;

const create = command(
  'create',
  'Make a token and print it',
  'npm run --silent token -- create --org acme',
  'npm run --silent token -- create --org acme --scopes tasks:read,tasks:write --expires-in-days 90',
  'npm run --silent token -- create --org acme --stack Crewboard',
)
  .description(
    'Make a token and print it: this once, for only its hash is kept. An organization comes into being with its first.',
  )
  .addOption(organizationOption())
  .addOption(
    new Option('--scopes <list>', `what it may do, parted by commas, of ${scopes.join(', ')}`)
      .argParser(readScopes)
      .default(scopes, 'all of them'),
  )
  .option('--expires-in-days <days>', 'when it ends by itself, 1 to 99999 (default: never)', wholeNumber(99_999))
  .addOption(stackOption())
  .action(async ({ org: organization, scopes: allowed, expiresInDays: days, stack }) => {
    const app = await openDeployment(stack);
    const expires = days && timestamp(app.clock() + days * dayMs);
    console.log(await issueToken(app, { organization, scopes: allowed, ...(expires && { expires }) }));
  });

const list = command(
  'list',
  'Show the tokens of an organization, never their secrets',
  'npm run --silent token -- list --org acme',
)
  .description(
    'Show the tokens of an organization, oldest first, those that have ended included; never their secrets, which are kept nowhere.',
  )
  .addOption(organizationOption())
  .addOption(stackOption())
  .action(async ({ org, stack }) => {
    const tokens = await readStoredTokens(await openDeployment(stack), org);
    const rows = tokens.map(({ id, createdAt, expires, revokedAt, scopes: allowed }) => [
      id,
      createdAt,
      expires ?? 'never',
      revokedAt ?? 'no',
      allowed.length === scopes.length ? 'every scope' : allowed.join(','),
    ]);
    console.log(
      rows.length > 0
        ? columns([['id', 'created', 'expires', 'revoked', 'scopes'], ...rows])
        : `The organization ${org} has no tokens.`,
    );
  });

const revoke = command('revoke', 'Revoke a token', 'npm run --silent token -- revoke TOKEN-OR-ID')
  .description('Revoke a token: it is refused everywhere within 30 seconds, for good. Doing it again changes nothing.')
  .argument('<token>', 'the token itself, or its id as list shows it')
  .addOption(stackOption())
  .action(async (subject, { stack }) => {
    const app = await openDeployment(stack);
    await revokeStoredToken(app, readToken(subject)?.id ?? subject, timestamp(app.clock()));
    console.log('Revoked; it is refused everywhere within 30 seconds.');
  });

/** `npm run token`: creates, lists and revokes access tokens (docs/architecture.md#access-tokens). */
export const token = command(
  'token',
  'Make, list and revoke the tokens by which callers are known',
  'npm run --silent token -- create --org acme --scopes tasks:read',
  'npm run --silent token -- list --org acme',
)
  .addCommand(create)
  .addCommand(list)
  .addCommand(revoke);

function readScopes(given: string): readonly Scope[] {
  const asked = given.split(',').map((scope) => scope.trim());
  const unknown = asked.filter((scope) => !(scopes as readonly string[]).includes(scope));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`There is no scope ${unknown.join(', ')}; there are ${scopes.join(', ')}.`);
  return [...new Set(asked as Scope[])];
}
