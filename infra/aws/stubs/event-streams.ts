/**
 * Stub of the SDK's packages for event streams and web sockets: no function calls an operation that uses them, but every
 * client imports them.
 */
const unchanged = <Config>(config: Config): Config => config;
const noPlugin = () => ({ applyToStack: () => {} });

/** @throws `Error`: it is called only where an operation uses an event stream */
const unavailable = (): never => {
  throw new Error('Event streams are not bundled; remove their stubs from infra/aws/bundle.ts.');
};

export {
  noPlugin as getEventStreamPlugin,
  noPlugin as getWebSocketPlugin,
  unavailable as eventStreamPayloadHandlerProvider,
  unavailable as eventStreamSerdeProvider,
  unchanged as resolveEventStreamConfig,
  unchanged as resolveEventStreamSerdeConfig,
  unchanged as resolveWebSocketConfig,
};
