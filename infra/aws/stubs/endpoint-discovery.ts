/**
 * Stub of `@aws-sdk/middleware-endpoint-discovery`: the client of DynamoDB configures the discovery of endpoints, with a cache of
 * them, and none of its commands discovers any.
 */
export const resolveEndpointDiscoveryConfig = <Config>(config: Config): Config => config;

export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: undefined,
};
