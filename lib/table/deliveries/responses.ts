import { ulidOf } from '../../contract/ids.ts';
import { tableSchema } from '../../names/table-schema.ts';
import { type Key, keys, organizationOf, webhookOf } from '../access/keys.ts';
import type { Item } from '../access/write.ts';
import { type AttemptPlace, attemptFacet, attemptOrder } from './attempt-items.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** The part of a response that is kept for some days. */
export type KeptResponse = {
  headers: Record<string, string>;
  body: string;
  /** Whether `body` is only the start of the response body. */
  truncated: boolean;
};

/** Returns when bodies and responses of an attempt are no longer shown; Unix time, in ms. */
export function responsesEnd(deliveredAt: string, responseDays: number): number {
  return Date.parse(deliveredAt) + responseDays * dayMs;
}

/**
 * Returns the item of a response. It is not in the row of the attempt, which is kept longer. It has no list: the details of
 * a delivery read it by its key.
 *
 * @param expiresMs Unix time, in ms
 */
export function responseItem(place: AttemptPlace, { headers, body, truncated }: KeptResponse, expiresMs: number): Item {
  return {
    ...keys.response(place.organization, ulidOf(place.webhookId), attemptOrder(place)),
    // As JSON, because a map of DynamoDB cannot have all names of headers, such as `__proto__`.
    headers: JSON.stringify(Object.entries(headers)),
    body,
    ...(truncated && { truncated }),
    [tableSchema.expiry]: Math.ceil(expiresMs / 1000),
  };
}

/** Returns the key of the response to the attempt of a row. */
export function responseKeyOf(row: Item): Key {
  const { pk, sk } = row as Key;
  return keys.response(organizationOf(pk), webhookOf(pk), sk.slice(`${attemptFacet}#`.length));
}

/** Returns the response of an item. */
export function responseFrom({ headers, body, truncated }: Item): KeptResponse {
  return {
    headers: Object.fromEntries(JSON.parse(headers as string)),
    body: body as string,
    truncated: truncated === true,
  };
}
