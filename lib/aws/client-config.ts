/**
 * The log of an AWS client. It has no `info`, because the SDK copies each request and response for `info` even if the
 * log drops them.
 */
const logger = { debug: () => {}, warn: () => {}, error: () => {} } as unknown as Logger;
type Logger = Record<'debug' | 'info' | 'warn' | 'error', () => void>;

/**
 * Returns the configuration of an AWS client: for a local engine with an endpoint, which ignores the region and the
 * signature, or for AWS with the settings of the environment. The user in the URL of an endpoint, as in
 * `http://KEY@127.0.0.1:4566`, becomes the access key of requests. Clients of SQS and streams also set `cacheMiddleware`.
 * The document client of DynamoDB must not: its cached middleware contains the input of the first command.
 */
export function clientConfig(endpoint: string | undefined) {
  if (!endpoint) return { logger };
  const url = new URL(endpoint);
  const accessKeyId = url.username || 'local';
  url.username = '';
  const credentials = { accessKeyId, secretAccessKey: 'local' };
  return { endpoint: url.href, region: 'local', credentials, signer: unsignedSigner(accessKeyId), logger };
}

/** Returns the headers of an unsigned request to a local engine. */
export const unsignedHeaders = (accessKeyId = 'local') => ({
  'x-amz-date': '20000101T000000Z',
  authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20000101/local/local/aws4_request, SignedHeaders=host, Signature=none`,
});

/**
 * Returns a signer that adds headers instead of a signature, which local engines do not check. A signature is a tenth of a
 * request's CPU time.
 */
function unsignedSigner(accessKeyId: string) {
  const headers = unsignedHeaders(accessKeyId);
  return {
    sign: async <Request extends { headers: Record<string, string> }>(request: Request): Promise<Request> => {
      Object.assign(request.headers, headers);
      return request;
    },
  };
}
