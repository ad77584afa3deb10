/**
 * Stands in for the packages of the SDK that send and read answers which come bit by bit, over HTTP or a web socket.
 * No operation that a function calls has such an answer; Bedrock's client is made for them all the same.
 */
const unchanged = <Config>(config: Config): Config => config;
const nothing = () => ({ applyToStack: () => {} });

/** @throws `Error`, when something is about to be streamed */
const refused = (): never => {
  throw new Error('The bundles have no event streams (infra/aws/stand-ins/event-streams.ts).');
};

/** What of a message of a stream is signed; `SignatureV4` makes one whether it signs any or not. */
class HeaderFormatter {
  readonly format = refused;
}

export {
  HeaderFormatter,
  nothing as getEventStreamPlugin,
  nothing as getWebSocketPlugin,
  refused as eventStreamPayloadHandlerProvider,
  refused as eventStreamSerdeProvider,
  unchanged as resolveEventStreamConfig,
  unchanged as resolveEventStreamSerdeConfig,
  unchanged as resolveWebSocketConfig,
};
