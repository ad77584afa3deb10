/**
 * The log of an AWS client. The SDK prepares a whole copy of each request and answer, without what is sensitive, for
 * a log that drops it, unless the log has no `info` at all.
 */
const quiet = { debug: () => {}, warn: () => {}, error: () => {} } as unknown as Logger;
type Logger = Record<'debug' | 'info' | 'warn' | 'error', () => void>;

/**
 * What an AWS client is opened with: the endpoint of a local engine, which looks at neither region nor credentials;
 * without one the SDK asks its environment, as in Lambda. Clients of SQS and of streams are told to keep their
 * middleware (`cacheMiddleware`) beside it; DynamoDB's document client must not be, for what it keeps of a command has the
 * first one's input in it.
 */
export function clientConfig(endpoint: string | undefined) {
  if (!endpoint) return { logger: quiet };
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return { endpoint, region: 'local', credentials, signer: unsigned, logger: quiet };
}

/** The headers of a request that is not signed, for engines on this machine. */
export const unsignedHeaders = {
  'x-amz-date': '20000101T000000Z',
  authorization:
    'AWS4-HMAC-SHA256 Credential=local/20000101/local/local/aws4_request, SignedHeaders=host, Signature=none',
};

/** Signs for engines that read whose a request is, and look at no signature: to make one is a tenth of a request's work. */
const unsigned = {
  sign: async <Request extends { headers: Record<string, string> }>(request: Request): Promise<Request> => {
    Object.assign(request.headers, unsignedHeaders);
    return request;
  },
};
