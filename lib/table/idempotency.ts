import { createHash, createHmac } from 'node:crypto';
import { tableSchema } from '../contract/deployment.ts';
import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { getItem } from './reads.ts';
import { AlreadyDone, type Write } from './transact.ts';

const keptForSeconds = 24 * 60 * 60;

/** A request that its caller wants carried out once: what identifies it, and what it asks. */
export type Request = { key: string; operation: string; path: string; body: unknown };

/** Hands a store the write that records an answer, for its own transaction; `undefined` without an Idempotency-Key. */
export type Once = ((answer: unknown) => Write) | undefined;

/** What was answered under a key before: the answer's `data`, or that the key stands for another request. */
export type Recorded = { data: unknown } | 'another request';

/** The records of requests that were carried out under an Idempotency-Key, kept for 24 hours (design §2). */
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
      if (record.fingerprint !== fingerprintOf(request)) return 'another request';
      return { data: JSON.parse(record.answer as string) };
    },

    /** The write that records the answer; where a twin of the request was faster it fails as `AlreadyDone`. */
    record(organization: Organization, request: Request, answer: unknown): Write {
      return {
        Put: {
          Item: {
            ...keys.idempotency(organization, hashOf(request)),
            fingerprint: fingerprintOf(request),
            answer: JSON.stringify(answer ?? null),
            [tableSchema.expiry]: seconds() + keptForSeconds,
          },
          ConditionExpression: 'attribute_not_exists(pk) OR #expiry <= :now',
          ExpressionAttributeNames: { '#expiry': tableSchema.expiry },
          ExpressionAttributeValues: { ':now': seconds() },
        },
        otherwise: () => new AlreadyDone(),
      };
    },
  };
}
