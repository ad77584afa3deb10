/** Returns whether the operator allows a host and port that are closed by default. */
export type AllowedReceivers = (host: string, port: number) => boolean;

/** A pattern: a host without `*` and without characters that end a host in a URL, then a port or `*`. */
const patternForm = /^(\[[^[\]]+\]|[^\s:/\\?#@*[\]]+):(\*|\d{1,5})$/;

/**
 * Reads `ALLOWED_RECEIVERS`: `host:port` patterns separated by commas, with `*` for any port, such as `localhost:*`. A host
 * may have any spelling that a URL accepts; `example.com` and `example.com.` are two different hosts.
 *
 * @throws Error for a pattern that can match nothing
 */
export function readAllowedReceivers(patterns: string): AllowedReceivers {
  const allowed = patterns
    .split(',')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '')
    .map((pattern) => {
      const [, spelling, port] = patternForm.exec(pattern) ?? [];
      // URLs normalize their hosts: to lower case, and to the shortest form of IPv6.
      const host = spelling && URL.parse(`https://${spelling}/`)?.hostname;
      if (!host || !port || Number(port) > 65_535)
        throw new Error(`ALLOWED_RECEIVERS has ${JSON.stringify(pattern)}; write host:port or host:*.`);
      return { host, port: port === '*' ? undefined : Number(port) };
    });
  return (host, port) => allowed.some((one) => one.host === host && (one.port === undefined || one.port === port));
}
