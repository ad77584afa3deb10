/**
 * Stub of the SDK's SHA-256 in JavaScript, which takes the place of the one of Node.js where that is missing.
 *
 * @throws `Error` where it is constructed
 */
export class Sha256Js {
  constructor() {
    throw new Error('SHA-256 in JavaScript is not bundled; Node.js has its own.');
  }
}
