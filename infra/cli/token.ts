import { type App, openApp } from '../../lib/app.ts';
import { environment } from '../../lib/contract/deployment.ts';
import { type Scope, scopes } from '../../lib/contract/endpoint.ts';
import { timestamp } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { issueToken } from '../../lib/http/issue-token.ts';
import { readToken } from '../../lib/http/token.ts';
import { Problem } from '../local/problem.ts';
import { findRunning, tableName } from '../local/running.ts';
import { readSettings } from '../local/settings.ts';
import { organizationOf, readArguments, runCommand } from './command.ts';
import { openStack } from './stack.ts';

const usage = `Usage, while the service runs on this machine, or with --stack NAME for one in AWS:
  npm run --silent token -- create --org NAME [--scopes a,b] [--expires-in-days N]
  npm run --silent token -- list --org NAME
  npm run --silent token -- revoke TOKEN-OR-ID
Scopes: ${scopes.join(', ')}; without --scopes a token has them all.`;

const options = {
  org: { type: 'string' },
  scopes: { type: 'string' },
  'expires-in-days': { type: 'string' },
  stack: { type: 'string' },
} as const;

const dayMs = 24 * 60 * 60 * 1000;

/** `npm run token`: makes, lists and revokes bearer tokens. What is asked for goes to standard output, and nothing else. */
async function main(args: string[]): Promise<string> {
  const { positionals, values } = readArguments(args, options, usage);
  const [command, subject, ...rest] = positionals;
  if (rest.length > 0) throw new Problem(usage);
  if (command === 'create' && !subject) {
    const request = {
      organization: organizationOf(values.org, usage),
      scopes: scopesOf(values.scopes),
      days: daysOf(values['expires-in-days']),
    };
    const app = await open(values.stack);
    const expires = request.days && timestamp(app.clock() + request.days * dayMs);
    return issueToken(app, { ...request, ...(expires && { expires }) });
  }
  if (command === 'list' && !subject) {
    const organization = organizationOf(values.org, usage);
    return list(await open(values.stack), organization);
  }
  if (command === 'revoke' && subject) {
    const app = await open(values.stack);
    await app.tokens.revoke(readToken(subject)?.id ?? subject, timestamp(app.clock()));
    return 'Revoked; it is refused everywhere within 30 seconds.';
  }
  throw new Problem(usage);
}

function scopesOf(given: string | undefined): readonly Scope[] {
  if (given === undefined) return scopes;
  const asked = given.split(',').map((scope) => scope.trim());
  const unknown = asked.filter((scope) => !(scopes as readonly string[]).includes(scope));
  if (unknown.length > 0) throw new Problem(`There is no scope ${unknown.join(', ')}; there are ${scopes.join(', ')}.`);
  return [...new Set(asked as Scope[])];
}

function daysOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(given)) throw new Problem('--expires-in-days must be a whole number from 1 to 99999.');
  return Number(given);
}

/** The app over the table of the deployment that tokens are for. */
const open = (stack: string | undefined): Promise<App> => (stack ? openStack(stack) : openRunning());

/** The app over the table of the deployment that runs on this machine. */
async function openRunning(): Promise<App> {
  const { dynamodbEndpoint } = await findRunning(readSettings(process.env).dataFolder);
  const variables = { [environment.tableName]: tableName, [environment.dynamodbEndpoint]: dynamodbEndpoint };
  return openApp({ environment: variables, clock: Date.now });
}

async function list(app: App, organization: Organization): Promise<string> {
  const tokens = await app.tokens.list(organization);
  const lines = tokens.map(({ id, createdAt, expires, revokedAt, scopes: allowed }) => {
    const state = revokedAt ? `revoked ${revokedAt}` : expires ? `until ${expires}` : 'never expires';
    return `${id}  made ${createdAt}  ${state}  ${allowed.length === scopes.length ? 'every scope' : allowed.join(',')}`;
  });
  return lines.length > 0 ? lines.join('\n') : `The organization ${organization} has no tokens.`;
}

runCommand(main);
