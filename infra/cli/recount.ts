import { isDeepStrictEqual } from 'node:util';
import { timestamp } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { Refusal } from '../../lib/contract/refusals.ts';
import { openTable, type Table } from '../../lib/table/client.ts';
import { type Difference, putRight, recount } from '../../lib/table/recount.ts';
import { Problem } from '../local/problem.ts';
import { findRunning, tableName } from '../local/running.ts';
import { readSettings } from '../local/settings.ts';
import { wordsFor } from './aws-faults.ts';
import { organizationOf, readArguments, runCommand } from './command.ts';
import { tableOf } from './stack.ts';

const usage = `Usage, while the service runs on this machine, or with --stack NAME or --table NAME for a table in AWS:
  npm run --silent recount -- --org NAME [--fix]
Tells which rows, counters, dependents and numbers of an organization are not as its items imply; --fix puts them right.
It reads the whole table. Stop what writes to it before --fix: a change between its reading and its writing is lost
from lists and counters (never from the items), and the next recount finds it.`;

const options = {
  org: { type: 'string' },
  stack: { type: 'string' },
  table: { type: 'string' },
  fix: { type: 'boolean', default: false },
} as const;

/** `npm run recount`: compares what is derived in the table with what its items imply, and puts it right if asked. */
async function main(args: string[]): Promise<string> {
  const { positionals, values } = readArguments(args, options, usage);
  if (positionals.length > 0 || (values.stack && values.table)) throw new Problem(usage);
  const organization = organizationOf(values.org, usage);
  const table = await open(values);
  const now = timestamp(Date.now());
  const differences = await counted(table, organization, now);
  if (differences.length === 0) return `${organization} is as its items imply.`;
  const told = `${differences.map(lineOf).join('\n')}\n${organization} has ${numbered(differences.length)}.`;
  if (!values.fix) {
    process.exitCode = 1;
    return `${told} Nothing was written; --fix puts them right, once nothing else writes to the table.`;
  }
  // What writers do between two requests looks like a fault; counted again it looks like another.
  if (!isDeepStrictEqual(await counted(table, organization, now), differences))
    throw new Problem(
      `${told}\nNothing was written: counted again they were others, so something writes to the table. Stop it first.`,
    );
  await putRight(table, differences);
  const left = await counted(table, organization, now);
  if (left.length > 0)
    throw new Problem(
      `${told}\nThey were put right, but ${numbered(left.length)} came up meanwhile: something writes to the table. Stop it, and run this again.`,
    );
  return `${told} All were put right.`;
}

async function open({ stack, table }: { stack?: string | undefined; table?: string | undefined }): Promise<Table> {
  if (table) return openTable(table);
  if (stack) return openTable(await tableOf(stack));
  const { dynamodbEndpoint } = await findRunning(readSettings(process.env).dataFolder);
  return openTable(tableName, dynamodbEndpoint);
}

async function counted(table: Table, organization: Organization, now: string): Promise<Difference[]> {
  try {
    return await recount(table, organization, now);
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

runCommand(main);
