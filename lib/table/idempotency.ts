import { createHash, createHmac } from 'node:crypto';
import type { Organization } from '../contract/organization.ts';
import { tableSchema } from '../names/table-schema.ts';
import type { TableContext } from './access/client.ts';
import { type Key, keys } from './access/keys.ts';
import { getItem, getItems } from './access/reads.ts';
import { AlreadyDone, transact } from './access/transact.ts';
import type { Write } from './access/write.ts';
import { createLease, deleteLease, isLeaseOver, leaseExpired, leaseHeld, leaseTimes } from './lease.ts';
import { partsOf } from './text-parts.ts';

const keptForSeconds = 24 * 60 * 60;

/** A request with an Idempotency-Key. */
export type IdempotentRequest = { key: string; operation: string; path: string; body: unknown };

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
  request: IdempotentRequest,
): Promise<Recorded | undefined> {
  const record = await getItem(table, keyOf(organization, request));
  if (!record || (record[tableSchema.expiry] as number) <= inSeconds(clock())) return undefined;
  if ('leaseUntil' in record && isLeaseOver(record.leaseUntil as number, clock())) return undefined;
  if (record.fingerprint !== fingerprintOf(request)) return 'another request';
  if ('leaseUntil' in record) return 'in progress';
  const parts = partKeys(organization, request, (record.parts as number | undefined) ?? 0);
  const further = await getItems(table, parts);
  // The record has expired between the reads.
  if (further.length < parts.length) return undefined;
  const answer = [record, ...further].map((item) => item.answer as string).join('');
  return { data: JSON.parse(answer), version: record.version as number | undefined };
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
  request: IdempotentRequest,
): Promise<string> {
  const now = context.clock();
  const lease = createLease(now);
  const condition = { condition: leaseExpired(), values: leaseTimes(now, lease.leaseUntil) };
  await transact(context.table, [recordWrite(context, organization, request, lease, condition)]);
  return lease.claim;
}

/** Deletes the leased record of a request that failed: the caller may send the request again. */
export function deleteIdempotencyLease(
  context: RecordContext,
  organization: Organization,
  request: IdempotentRequest,
  leaseId: string,
): Promise<void> {
  return deleteLease(context, keyOf(organization, request), leaseId);
}

/**
 * Returns the writes that record the response; they fail with `AlreadyDone` if a duplicate request was faster. A response that
 * is larger than an item is split, so that it is returned as it was, whatever becomes of the resource.
 *
 * @param leaseId the id of the lease, for a request whose record is leased
 */
export function idempotencyRecordWrites(
  context: RecordContext,
  organization: Organization,
  request: IdempotentRequest,
  { data, version }: RecordedResponse,
  leaseId?: string,
): Write[] {
  const condition = leaseId ? { condition: leaseHeld, values: { ':claim': leaseId } } : undefined;
  const [answer, ...further] = partsOf(JSON.stringify(data ?? null));
  const parts = further.length;
  const fields = { answer, ...(parts > 0 && { parts }), ...(version !== undefined && { version }) };
  const expiry = { [tableSchema.expiry]: expiryAt(context) };
  return [
    recordWrite(context, organization, request, fields, condition),
    ...partKeys(organization, request, parts).map((key, at) => ({
      Put: { Item: { ...key, answer: further[at], ...expiry } },
    })),
  ];
}

/** Returns the write of a record. It replaces a record that has expired, and one for which the condition `or` is true. */
function recordWrite(
  context: RecordContext,
  organization: Organization,
  request: IdempotentRequest,
  fields: Record<string, unknown>,
  or?: { condition: string; values: Record<string, unknown> },
): Write {
  return {
    Put: {
      Item: {
        ...keyOf(organization, request),
        fingerprint: fingerprintOf(request),
        ...fields,
        [tableSchema.expiry]: expiryAt(context),
      },
      ConditionExpression: `attribute_not_exists(pk) OR #expiry <= :nowSeconds${or ? ` OR ${or.condition}` : ''}`,
      ExpressionAttributeNames: { '#expiry': tableSchema.expiry },
      ExpressionAttributeValues: { ':nowSeconds': inSeconds(context.clock()), ...or?.values },
    },
    onConditionFailed: () => new AlreadyDone(),
  };
}

const inSeconds = (milliseconds: number) => Math.floor(milliseconds / 1000);

const expiryAt = ({ clock }: RecordContext) => inSeconds(clock()) + keptForSeconds;

/** Returns the key of a record. */
function keyOf(organization: Organization, request: IdempotentRequest): Key {
  return keys.idempotency(organization, hashOf(request));
}

/** Returns the keys of the further parts of a recorded response. */
function partKeys(organization: Organization, request: IdempotentRequest, count: number): Key[] {
  const hash = hashOf(request);
  return Array.from({ length: count }, (_, at) => keys.idempotencyPart(organization, hash, at + 1));
}

/** Returns the hash by which an Idempotency-Key is stored. */
function hashOf({ key, operation }: IdempotentRequest): string {
  return createHash('sha256').update(`${operation}\n${key}`).digest('hex');
}

/**
 * Returns a fingerprint of the path and the body of a request. It is keyed with the Idempotency-Key, which is stored nowhere,
 * so that a reader of the table cannot guess a secret in the body.
 */
function fingerprintOf({ key, path, body }: IdempotentRequest): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([path, body]))
    .digest('hex');
}
