import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';

/** The bytes that clients give: text, or any view of memory. */
type Data = string | ArrayBuffer | NodeJS.ArrayBufferView;

/** A hash of Node.js in the form that the SDK's clients ask for. */
class Checksum {
  readonly #open: () => Hash | Hmac;
  #hash: Hash | Hmac;

  constructor(open: () => Hash | Hmac) {
    this.#open = open;
    this.#hash = open();
  }

  update(data: Data): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest());
  }

  reset(): void {
    this.#hash = this.#open();
  }
}

/**
 * Stands in, with `Md5`, for `@smithy/core/checksum` in the bundles, which brings its own SHA-256 and MD5 for where
 * Node.js has none. With a secret it is an HMAC (`Checksum` of `@smithy/types`).
 */
export class Sha256 extends Checksum {
  constructor(secret?: Data) {
    super(() => (secret ? createHmac('sha256', bytesOf(secret)) : createHash('sha256')));
  }
}

/** What SQS's client compares the answers to its messages by. */
export class Md5 extends Checksum {
  constructor() {
    super(() => createHash('md5'));
  }
}

const bytesOf = (data: Data) => (data instanceof ArrayBuffer ? new Uint8Array(data) : data);
