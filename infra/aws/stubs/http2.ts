/**
 * Stub of `node:http2`: the SDK's handlers import it, and Node.js takes some milliseconds to load it. `createBedrockModel` sends
 * by HTTP/1.1 (docs/decisions/10-model-calls-have-fixed-limits-and-two-gates.md).
 */
export default {
  /** @throws `Error` where a client of Bedrock was created without a request handler */
  connect(): never {
    throw new Error('HTTP/2 is not bundled; give the client a request handler.');
  },
};
