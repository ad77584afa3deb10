import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { Organization } from '../contract/organization.ts';
import { tableSchema } from '../deployment/table-schema.ts';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { getItem } from './reads.ts';
import { AlreadyDone, ignoreStale, Stale, transact } from './transact.ts';
import type { Write } from './write.ts';

const keptForSeconds = 24 * 60 * 60;

/** A request that its caller wants carried out once: what identifies it, and what it asks. */
export type Request = { key: string; operation: string; path: string; body: unknown };

/** Hands a store the write that records an answer, for its own transaction; `undefined` without an Idempotency-Key. */
export type Once = ((answer: unknown) => Write) | undefined;

/**
 * What is known under a key: the `data` that was answered before, that the request is being carried out right now, or
 * that the key stands for another request.
 */
export type Recorded = { data: unknown } | 'in progress' | 'another request';

/** A request that calls out is under way for so long at most: no function is given more time to answer. */
const leaseMs = 30_000;

/** The records of requests with an Idempotency-Key, kept for 24 hours (docs/architecture.md#idempotency). */
export function openIdempotency(table: Table, clock: () => number) {
  const seconds = () => Math.floor(clock() / 1000);
  // The key is stored hashed. The fingerprint is keyed with the key itself, which is stored nowhere, so that a
  // secret in the body cannot be guessed from the table.
  const hashOf = ({ key, operation }: Request) => createHash('sha256').update(`${operation}\n${key}`).digest('hex');
  const fingerprintOf = ({ key, path, body }: Request) =>
    createHmac('sha256', key)
      .update(JSON.stringify([path, body]))
      .digest('hex');

  return {
    /** What this request was answered before, if it was. */
    async find(organization: Organization, request: Request): Promise<Recorded | undefined> {
      const record = await getItem(table, keys.idempotency(organization, hashOf(request)));
      if (!record || (record[tableSchema.expiry] as number) <= seconds()) return undefined;
      if ('leaseUntil' in record && (record.leaseUntil as number) <= clock()) return undefined;
      if (record.fingerprint !== fingerprintOf(request)) return 'another request';
      if ('leaseUntil' in record) return 'in progress';
      return { data: JSON.parse(record.answer as string) };
    },

    /**
     * Notes that a request which calls out is under way, so that its twin does not call out too.
     *
     * @returns the claim that `record` and `release` ask for
     * @throws `AlreadyDone` when a twin of the request was faster
     */
    async begin(organization: Organization, request: Request): Promise<string> {
      const claim = randomUUID();
      await transact(table, [
        put(
          organization,
          request,
          { claim, leaseUntil: clock() + leaseMs },
          { condition: 'leaseUntil <= :nowMs', values: { ':nowMs': clock() } },
        ),
      ]);
      return claim;
    },

    /** Forgets a request that has come to nothing: it may be sent again. */
    async release(organization: Organization, request: Request, claim: string): Promise<void> {
      const Key = keys.idempotency(organization, hashOf(request));
      const ConditionExpression = 'claim = :claim';
      const write = { Delete: { Key, ConditionExpression, ExpressionAttributeValues: { ':claim': claim } } };
      await transact(table, [{ ...write, otherwise: () => new Stale() }]).catch(ignoreStale);
    },

    /**
     * The write that records the answer; where a twin of the request was faster it fails as `AlreadyDone`.
     *
     * @param claim of a request that was noted as under way
     */
    record(organization: Organization, request: Request, answer: unknown, claim?: string): Write {
      return put(
        organization,
        request,
        { answer: JSON.stringify(answer ?? null) },
        claim ? { condition: 'claim = :claim', values: { ':claim': claim } } : undefined,
      );
    },
  };

  /** A record, where there is none that still stands, or the one there is meets the condition. */
  function put(
    organization: Organization,
    request: Request,
    fields: Record<string, unknown>,
    or?: { condition: string; values: Record<string, unknown> },
  ): Write {
    return {
      Put: {
        Item: {
          ...keys.idempotency(organization, hashOf(request)),
          fingerprint: fingerprintOf(request),
          ...fields,
          [tableSchema.expiry]: seconds() + keptForSeconds,
        },
        ConditionExpression: `attribute_not_exists(pk) OR #expiry <= :now${or ? ` OR ${or.condition}` : ''}`,
        ExpressionAttributeNames: { '#expiry': tableSchema.expiry },
        ExpressionAttributeValues: { ':now': seconds(), ...or?.values },
      },
      otherwise: () => new AlreadyDone(),
    };
  }
}
