import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type Scope, scopes } from '../../../lib/contract/endpoint.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { readToken } from '../../../lib/http/token.ts';
import { readStoredTokens, revokeStoredToken } from '../../../lib/table/organizations/tokens.ts';
import { columns } from '../columns.ts';
import { command, organizationOption, stackOption, wholeNumber } from '../command.ts';
import { createDeploymentContext } from '../deployments.ts';

const dayMs = 24 * 60 * 60 * 1000;

const create = command(
  'create',
  'Create an access token and print it',
  'npm run --silent token -- create --org acme',
  'npm run --silent token -- create --org acme --scopes tasks:read,tasks:write --expires-in-days 90',
  'npm run --silent token -- create --org acme --stack Crewboard',
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
  .option('--expires-in-days <days>', 'days until it expires, 1 to 99999 (default: never)', wholeNumber(99_999))
  .addOption(stackOption())
  .action(async ({ org: organization, scopes: allowed, expiresInDays: days, stack }) => {
    const context = await createDeploymentContext(stack);
    const expires = days && timestamp(context.clock() + days * dayMs);
    console.log(await issueToken(context, { organization, scopes: allowed, ...(expires && { expires }) }));
  });

const list = command(
  'list',
  'List the access tokens of an organization, without their secrets',
  'npm run --silent token -- list --org acme',
)
  .description(
    'List the access tokens of an organization, oldest first, including revoked and expired ones. Their secrets are not stored.',
  )
  .addOption(organizationOption())
  .addOption(stackOption())
  .action(async ({ org, stack }) => {
    const tokens = await readStoredTokens(await createDeploymentContext(stack), org);
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

const revoke = command('revoke', 'Revoke an access token', 'npm run --silent token -- revoke TOKEN-OR-ID')
  .description('Revoke an access token permanently. Within 30 seconds all requests with it are rejected.')
  .argument('<token>', 'the token, or its id from list')
  .addOption(stackOption())
  .action(async (subject, { stack }) => {
    const context = await createDeploymentContext(stack);
    await revokeStoredToken(context, readToken(subject)?.id ?? subject, timestamp(context.clock()));
    console.log('Revoked. Within 30 seconds all requests with this token are rejected.');
  });

/** `npm run token`: creates, lists and revokes access tokens (docs/architecture.md#access-tokens). */
export const token = command(
  'token',
  'Create, list and revoke access tokens',
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
    throw new InvalidArgumentError(`Unknown scope ${unknown.join(', ')}; use ${scopes.join(', ')}.`);
  return [...new Set(asked as Scope[])];
}
