import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { Organization } from '../contract/organization.ts';
import { tableSchema } from '../deployment/table-schema.ts';
import type { TableContext } from './client.ts';
import { type Key, keys } from './keys.ts';
import { getItem } from './reads.ts';
import { AlreadyDone, Conflict, ignoreConflict, transact } from './transact.ts';
import type { Write } from './write.ts';

const keptForSeconds = 24 * 60 * 60;

/** A request that its caller wants carried out once: what identifies it, and what it asks. */
export type Request = { key: string; operation: string; path: string; body: unknown };

/** Hands a store the write that records an answer, for its own transaction; `undefined` without an Idempotency-Key. */
export type RecordResponse = ((answer: unknown) => Write) | undefined;

/**
 * What is known under a key: the `data` that was answered before, that the request is being carried out right now, or
 * that the key stands for another request.
 */
export type Recorded = { data: unknown } | 'in progress' | 'another request';

/** A request that calls out is under way for so long at most: no function is given more time to answer. */
const leaseMs = 30_000;

/** The part of a context that idempotency records need. */
type RecordContext = TableContext & { clock: () => number };

/** Reads the idempotency record of a request; records are kept for 24 hours. */
export async function readIdempotencyRecord(
  { table, clock }: RecordContext,
  organization: Organization,
  request: Request,
): Promise<Recorded | undefined> {
  const record = await getItem(table, keyOf(organization, request));
  if (!record || (record[tableSchema.expiry] as number) <= inSeconds(clock())) return undefined;
  if ('leaseUntil' in record && (record.leaseUntil as number) <= clock()) return undefined;
  if (record.fingerprint !== fingerprintOf(request)) return 'another request';
  if ('leaseUntil' in record) return 'in progress';
  return { data: JSON.parse(record.answer as string) };
}

/**
 * Records that a request which calls out is in progress, so that a duplicate request does not call out too.
 *
 * @returns the claim that `idempotencyRecordWrite` and `deleteIdempotencyClaim` ask for
 * @throws `AlreadyDone` when a duplicate request was faster
 */
export async function putIdempotencyClaim(
  context: RecordContext,
  organization: Organization,
  request: Request,
): Promise<string> {
  const claim = randomUUID();
  const now = context.clock();
  const condition = { condition: 'leaseUntil <= :nowMs', values: { ':nowMs': now } };
  await transact(context.table, [
    recordWrite(context, organization, request, { claim, leaseUntil: now + leaseMs }, condition),
  ]);
  return claim;
}

/** Deletes the record of a request that was in progress and has failed: the request may be sent again. */
export async function deleteIdempotencyClaim(
  { table }: RecordContext,
  organization: Organization,
  request: Request,
  claim: string,
): Promise<void> {
  const write = {
    Delete: {
      Key: keyOf(organization, request),
      ConditionExpression: 'claim = :claim',
      ExpressionAttributeValues: { ':claim': claim },
    },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write]).catch(ignoreConflict);
}

/**
 * Returns the write that records the response; it fails with `AlreadyDone` where a duplicate request was faster.
 *
 * @param claim of a request that is recorded as in progress
 */
export function idempotencyRecordWrite(
  context: RecordContext,
  organization: Organization,
  request: Request,
  answer: unknown,
  claim?: string,
): Write {
  const condition = claim ? { condition: 'claim = :claim', values: { ':claim': claim } } : undefined;
  return recordWrite(context, organization, request, { answer: JSON.stringify(answer ?? null) }, condition);
}

/** Returns the write of a record, where there is none that has not expired, or where the one there is meets the condition. */
function recordWrite(
  { clock }: RecordContext,
  organization: Organization,
  request: Request,
  fields: Record<string, unknown>,
  or?: { condition: string; values: Record<string, unknown> },
): Write {
  const now = inSeconds(clock());
  return {
    Put: {
      Item: {
        ...keyOf(organization, request),
        fingerprint: fingerprintOf(request),
        ...fields,
        [tableSchema.expiry]: now + keptForSeconds,
      },
      ConditionExpression: `attribute_not_exists(pk) OR #expiry <= :now${or ? ` OR ${or.condition}` : ''}`,
      ExpressionAttributeNames: { '#expiry': tableSchema.expiry },
      ExpressionAttributeValues: { ':now': now, ...or?.values },
    },
    onConditionFailed: () => new AlreadyDone(),
  };
}

const inSeconds = (milliseconds: number) => Math.floor(milliseconds / 1000);

/** The key of a record: the Idempotency-Key is stored hashed. */
function keyOf(organization: Organization, { key, operation }: Request): Key {
  return keys.idempotency(organization, createHash('sha256').update(`${operation}\n${key}`).digest('hex'));
}

/**
 * Identifies what a request asks. It is keyed with the Idempotency-Key, which is stored nowhere, so that a secret in the body
 * cannot be guessed from the table.
 */
function fingerprintOf({ key, path, body }: Request): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([path, body]))
    .digest('hex');
}
