import { createHash, createHmac } from 'node:crypto';
import type { Organization } from '../contract/organization.ts';
import { tableSchema } from '../deployment/table-schema.ts';
import type { TableContext } from './client.ts';
import { type Key, keys } from './keys.ts';
import { createLease, deleteLease, leaseExpired, leaseHeld } from './lease.ts';
import { getItem } from './reads.ts';
import { AlreadyDone, transact } from './transact.ts';
import type { Write } from './write.ts';

const keptForSeconds = 24 * 60 * 60;

/** A request with an Idempotency-Key. */
export type Request = { key: string; operation: string; path: string; body: unknown };

/**
 * Returns the writes that record a response, for the transaction of a mutation; `undefined` for a request without an
 * Idempotency-Key. The argument is what the behaviour returns.
 */
export type RecordResponse = ((result: unknown) => readonly Write[]) | undefined;

/** The `data` of a recorded response, and the version of the resource, if it has an `ETag`. */
export type RecordedResponse = { data: unknown; version?: number | undefined };

/** The state of a key's record: the recorded response; or the request is in progress; or the key belongs to another request. */
export type Recorded = RecordedResponse | 'in progress' | 'another request';

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
  return { data: JSON.parse(record.answer as string), version: record.version as number | undefined };
}

/**
 * Leases the record of a request that calls out, so that a duplicate request does not call out too.
 *
 * @returns the id of the lease, for `idempotencyRecordWrite` and `deleteIdempotencyLease`
 * @throws `AlreadyDone` when a duplicate request was faster
 */
export async function leaseIdempotencyRecord(
  context: RecordContext,
  organization: Organization,
  request: Request,
): Promise<string> {
  const now = context.clock();
  const lease = createLease(now);
  const condition = { condition: leaseExpired(), values: { ':now': now } };
  await transact(context.table, [recordWrite(context, organization, request, lease, condition)]);
  return lease.claim;
}

/** Deletes the leased record of a request that failed: the caller may send the request again. */
export function deleteIdempotencyLease(
  context: RecordContext,
  organization: Organization,
  request: Request,
  leaseId: string,
): Promise<void> {
  return deleteLease(context, keyOf(organization, request), leaseId);
}

/**
 * Returns the write that records the response; it fails with `AlreadyDone` if a duplicate request was faster.
 *
 * @param leaseId the id of the lease, for a request whose record is leased
 */
export function idempotencyRecordWrite(
  context: RecordContext,
  organization: Organization,
  request: Request,
  { data, version }: RecordedResponse,
  leaseId?: string,
): Write {
  const condition = leaseId ? { condition: leaseHeld, values: { ':claim': leaseId } } : undefined;
  const fields = { answer: JSON.stringify(data ?? null), ...(version !== undefined && { version }) };
  return recordWrite(context, organization, request, fields, condition);
}

/** Returns the write of a record. It replaces a record that has expired, and one for which the condition `or` is true. */
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
      ConditionExpression: `attribute_not_exists(pk) OR #expiry <= :nowSeconds${or ? ` OR ${or.condition}` : ''}`,
      ExpressionAttributeNames: { '#expiry': tableSchema.expiry },
      ExpressionAttributeValues: { ':nowSeconds': now, ...or?.values },
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
 * Returns a fingerprint of the path and the body of a request. It is keyed with the Idempotency-Key, which is stored nowhere,
 * so that a reader of the table cannot guess a secret in the body.
 */
function fingerprintOf({ key, path, body }: Request): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([path, body]))
    .digest('hex');
}
