type Handler = { handle: (...given: never[]) => unknown };

/**
 * Stands in for `NodeHttp2Handler` of `@smithy/node-http-handler` in the bundles: what Bedrock's client sends its
 * requests with, unless it is given a handler. It always is
 * (docs/decisions/10-model-calls-have-fixed-limits-and-two-gates.md).
 */
export const NodeHttp2Handler = {
  /** @throws `Error` where it is given no handler */
  create(given: Partial<Handler> | undefined): Handler {
    if (given?.handle) return given as Handler;
    throw new Error('The bundles have no HTTP/2 (infra/aws/stand-ins/http2.ts); give the client a handler.');
  },
};
