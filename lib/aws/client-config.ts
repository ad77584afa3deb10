/**
 * The log of an AWS client. It has no `info`, because the SDK copies each request and response for `info` even if the
 * log drops them.
 */
const logger = { debug: () => {}, warn: () => {}, error: () => {} } as unknown as Logger;
type Logger = Record<'debug' | 'info' | 'warn' | 'error', () => void>;

/**
 * Returns the configuration of an AWS client: for a local engine with an endpoint, which ignores region and
 * credentials, or for AWS with the settings of the environment. Clients of SQS and streams also set `cacheMiddleware`.
 * The document client of DynamoDB must not: its cached middleware contains the input of the first command.
 */
export function clientConfig(endpoint: string | undefined) {
  if (!endpoint) return { logger };
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return { endpoint, region: 'local', credentials, signer: unsignedSigner, logger };
}

/** The headers of an unsigned request to a local engine. */
const unsignedHeaders = {
  'x-amz-date': '20000101T000000Z',
  authorization:
    'AWS4-HMAC-SHA256 Credential=local/20000101/local/local/aws4_request, SignedHeaders=host, Signature=none',
};

/**
 * Adds headers instead of a signature, which local engines do not check. A signature is a tenth of a request's CPU
 * time.
 */
const unsignedSigner = {
  sign: async <Request extends { headers: Record<string, string> }>(request: Request): Promise<Request> => {
    Object.assign(request.headers, unsignedHeaders);
    return request;
  },
};
