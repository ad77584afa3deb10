import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { BatchGetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { expect, it, onTestFinished } from 'vitest';
import { createTable } from '../../../../infra/local/other-engine/create-table.ts';
import { openLocalTable } from '../../../../infra/local/table/local-table.ts';
import { openTable, type Table } from '../../../../lib/table/access/client.ts';
import { dynamodbLocal } from '../../../dynamodb-local/endpoint.ts';
import { testSeed } from '../../../seeded.ts';
import { randomFrom } from '../../../soak/random.ts';
import { comparableError, comparableOutput, inOrder } from './comparable.ts';
import { hasFormerEngine, startFormerEngine, streamedRecords } from './former-engine.ts';
import { type GeneratedCommand, generateCommand } from './generated-commands.ts';
import { knownDifferences, type Outcome } from './known-differences.ts';

/** The number of commands for each engine. Dynoxide needs 2 to 5 ms for one, because it commits each write. */
const commands = Number(process.env.DIFFERENTIAL_COMMANDS ?? 10_000);

/** The commands are sent in sequences at the same time, each on tables of its own. */
const sequences = 8;

/** The kinds of items whose changes are compared. */
const kinds = ['task'];

async function outcomeOf({ client, name }: Table, command: GeneratedCommand): Promise<Outcome> {
  const sent = command(name);
  try {
    const output = comparableOutput(await client.send(sent as never), name) as Outcome;
    return sent instanceof ScanCommand || sent instanceof BatchGetCommand ? inOrder(output) : output;
  } catch (error) {
    return comparableError(error, name) as Outcome;
  }
}

const short = (_: string, value: unknown) =>
  value instanceof Set
    ? [...value]
    : typeof value === 'string' && value.length > 200
      ? `${value.length} letters`
      : value;

async function compareSequence(endpoint: string, seed: number, count: number): Promise<void> {
  const tableName = `differential-${randomUUID()}`;
  await createTable(endpoint, tableName);
  const engine = openTable(tableName, endpoint);
  const local = openLocalTable({ path: ':memory:', tableName: 'local', kinds });
  const random = randomFrom(seed);
  for (let at = 0; at < count; at++) {
    const command = generateCommand(random);
    const [ours, theirs] = await Promise.all([outcomeOf(local.table, command), outcomeOf(engine, command)]);
    if (isDeepStrictEqual(ours, theirs)) continue;
    const sent = command('table');
    if (knownDifferences.some(({ isOf }) => isOf({ input: sent.input, ours, theirs }))) continue;
    const { name } = sent.constructor;
    expect(ours, `seed ${seed}, command ${at}: ${name} ${JSON.stringify(sent.input, short)}`).toEqual(theirs);
  }
  const theirRecords = await streamedRecords({ endpoint, tableName });
  expect(byItem(local.changes.after(undefined, count * 100)), `the stream of seed ${seed}`).toEqual(
    byItem(theirRecords.filter(isOfKind).filter(isChange)),
  );
  await local.close();
}

const isOfKind = ({ dynamodb: { NewImage, OldImage } = {} }: DynamoDBRecord) =>
  [NewImage, OldImage].some((image) => kinds.includes(image?.kind?.S ?? ''));

/** Dynoxide also records writes that change nothing. "DynamoDB Streams doesn't write a stream record" for these. */
const isChange = ({ dynamodb: { NewImage, OldImage } = {} }: DynamoDBRecord) =>
  !isDeepStrictEqual(comparableOutput({ NewImage }, ''), comparableOutput({ NewImage: OldImage }, ''));

/** Returns records by their items. Those of one item are in order; those of a transaction are not. */
function byItem(records: readonly DynamoDBRecord[]): Map<string, unknown[]> {
  const groups = Map.groupBy(records, ({ dynamodb }) => `${dynamodb?.Keys?.pk?.S} ${dynamodb?.Keys?.sk?.S}`);
  return new Map([...groups].map(([key, group]) => [key, group.map(comparableRecord)]));
}

/** Returns a record in a form that can be compared. DynamoDB Local leaves out the type of an empty map in its stream. */
const comparableRecord = ({ eventName, dynamodb: { Keys, NewImage, OldImage } = {} }: DynamoDBRecord): unknown =>
  JSON.parse(
    JSON.stringify(comparableOutput({ eventName, Keys, NewImage, OldImage }, '')).replaceAll('{"M":{}}', '{}'),
  );

async function compareSequences(endpoint: string): Promise<void> {
  const count = Math.ceil(commands / sequences);
  await Promise.all(Array.from({ length: sequences }, (_, nth) => compareSequence(endpoint, testSeed + nth, count)));
}

const compared = `${commands} commands, seed ${testSeed}`;

it.skipIf(!hasFormerEngine)(
  `the table answers as dynoxide does, which npm run engine installs (${compared})`,
  async () => {
    const { endpoint, stop } = await startFormerEngine();
    onTestFinished(stop);
    await compareSequences(endpoint);
  },
);

it.skipIf(!dynamodbLocal)(
  `the table answers as DynamoDB Local does, which npm run test:dynamodb-local starts (${compared})`,
  () => compareSequences(dynamodbLocal as string),
);
