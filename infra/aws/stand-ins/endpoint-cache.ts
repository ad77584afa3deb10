/**
 * Stands in for `@aws-sdk/endpoint-cache` in the bundles: where DynamoDB's client would keep the endpoints that it has
 * asked for. It asks for none unless AWS_ENABLE_ENDPOINT_DISCOVERY tells it to, and makes the cache all the same.
 */
export class EndpointCache {}
