/**
 * An error of the table as data, which can be sent between threads. The main thread throws the SDK's exception for it
 * (`exceptions.ts`).
 */
export type TableFailure = {
  name: string;
  message: string;
  /** The stored item of a failed condition, if the request asks for it. */
  item?: StoredItem;
  /** The reasons of a cancelled transaction, one for each of its writes. */
  reasons?: readonly CancellationReason[];
};

/** The text of a stored item; see `encodeItem`. */
export type StoredItem = { text: string; coded: boolean };

/** Why a write of a transaction was not made. */
export type CancellationReason = { code: string; message?: string; item?: StoredItem };

/** A request that DynamoDB rejects with `ValidationException`. */
export class Invalid extends Error {
  override name = 'ValidationException';
}

/**
 * A write that DynamoDB rejects because its item does not match the schema of the table. In a transaction, it is the reason
 * of the cancellation.
 */
export class InvalidItem extends Invalid {}

/** A request that DynamoDB accepts and the table in the process does not: no store sends it. */
export class Unsupported extends Error {
  override name = 'Unsupported';

  /** @param what the operation, parameter, expression, function or type */
  constructor(what: string) {
    super(`The table in the process does not support ${what}.`);
  }
}
