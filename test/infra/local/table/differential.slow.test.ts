import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ScanCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { expect, it, onTestFinished } from 'vitest';
import { createTable } from '../../../../infra/local/other-engine/create-table.ts';
import { openLocalTable } from '../../../../infra/local/table/local-table.ts';
import { openTable, type Table } from '../../../../lib/table/access/client.ts';
import { testSeed } from '../../../seeded.ts';
import { randomFrom } from '../../../soak/random.ts';
import { comparableError, comparableOutput, inKeyOrder } from './comparable.ts';
import { hasFormerEngine, startFormerEngine, streamedRecords } from './former-engine.ts';
import { type GeneratedCommand, generateCommand } from './generated-commands.ts';

/** The address of DynamoDB Local. Amazon's licence does not allow tests to fetch it. */
const dynamodbLocal = process.env.DYNAMODB_LOCAL_ENDPOINT;

/** The number of commands for each engine. Dynoxide needs 2 to 5 ms for one, because it commits each write. */
const commands = Number(process.env.DIFFERENTIAL_COMMANDS ?? 10_000);

/** The commands are sent in sequences at the same time, each on tables of its own. */
const sequences = 8;

/** The kinds of items whose changes are compared. */
const kinds = ['task'];

/** The result of a command in a form that can be compared. */
type Outcome = Record<string, unknown>;

async function outcomeOf({ client, name }: Table, command: GeneratedCommand): Promise<Outcome> {
  const sent = command(name);
  try {
    const output = await client.send(sent as never);
    return comparableOutput(sent instanceof ScanCommand ? inKeyOrder(output) : output, name) as Outcome;
  } catch (error) {
    return comparableError(error, name) as Outcome;
  }
}

const isInvalid = ({ error, reasons = [] }: Outcome) =>
  error === 'ValidationException' || (reasons as { Code: string }[]).some(({ Code }) => Code === 'ValidationError');

/** The known differences, with their reasons. */
const knownDifferences: readonly [string, (command: object, ours: Outcome, theirs: Outcome) => boolean][] = [
  [
    // The documentation names the error of a write that is invalid in one way, and not of one that is invalid in several.
    'a transaction with several invalid writes is rejected as a whole, or with reasons',
    (_, ours, theirs) => isInvalid(ours) && isInvalid(theirs),
  ],
  [
    // "ALL_OLD: Returns all of the attributes of the item, as they appeared before the UpdateItem operation." There are none.
    'dynoxide returns the key as the old item of an update that creates the item',
    (command, ours, theirs) =>
      'input' in command &&
      (command.input as UpdateCommandInput).ReturnValues === 'ALL_OLD' &&
      Object.keys(ours).length === 0 &&
      Object.keys((theirs.Attributes ?? {}) as object).length === 2,
  ],
];

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
    const sent = command('table');
    if (knownDifferences.some(([, isKnown]) => isKnown(sent, ours, theirs))) continue;
    const { name } = sent.constructor;
    expect(ours, `seed ${seed}, command ${at}: ${name} ${JSON.stringify(sent.input, short)}`).toEqual(theirs);
  }
  const theirRecords = await streamedRecords({ endpoint, tableName });
  expect(local.changes.after(undefined, count * 100).map(comparableRecord), `the stream of seed ${seed}`).toEqual(
    theirRecords.filter(isOfKind).filter(isChange).map(comparableRecord),
  );
  await local.close();
}

const isOfKind = ({ dynamodb: { NewImage, OldImage } = {} }: DynamoDBRecord) =>
  [NewImage, OldImage].some((image) => kinds.includes(image?.kind?.S ?? ''));

/** Dynoxide also records writes that change nothing. "DynamoDB Streams doesn't write a stream record" for these. */
const isChange = ({ dynamodb: { NewImage, OldImage } = {} }: DynamoDBRecord) =>
  !isDeepStrictEqual(comparableOutput({ NewImage }, ''), comparableOutput({ NewImage: OldImage }, ''));

const comparableRecord = ({ eventName, dynamodb: { Keys, NewImage, OldImage } = {} }: DynamoDBRecord) =>
  comparableOutput({ eventName, Keys, NewImage, OldImage }, '');

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
  `the table answers as DynamoDB Local does, whose address is in DYNAMODB_LOCAL_ENDPOINT (${compared})`,
  () => compareSequences(dynamodbLocal as string),
);
