import { isIP } from 'node:net';
import type { Context } from '../context.ts';
import { ApiError } from '../contract/errors.ts';
import { environment } from '../deployment/environment.ts';
import { isPublicAddress } from './addresses.ts';

/** Tells whether the operator opens a host and port that are closed by default. */
export type Allowed = (host: string, port: number) => boolean;

/** Ports of https receivers, beside those that the operator opens. */
const ports = [443, 8443];

/** A pattern's host and port: no `*` in the host, and nothing that a URL would take for the end of it. */
const patternForm = /^(\[[^[\]]+\]|[^\s:/\\?#@*[\]]+):(\*|\d{1,5})$/;

/**
 * Reads `ALLOWED_RECEIVERS`: `host:port` patterns parted by commas, `*` for any port, such as `localhost:*`. A host may
 * be spelled in any way that a URL takes; `example.com` and `example.com.` are two.
 *
 * @throws Error for a pattern that can match nothing
 */
export function allowedReceivers(patterns: string): Allowed {
  const allowed = patterns
    .split(',')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '')
    .map((pattern) => {
      const [, spelling, port] = patternForm.exec(pattern) ?? [];
      // As a URL's host is written that is asked for: in small letters, IPv6 at its shortest.
      const host = spelling && URL.parse(`https://${spelling}/`)?.hostname;
      if (!host || !port || Number(port) > 65_535)
        throw new Error(`ALLOWED_RECEIVERS has ${JSON.stringify(pattern)}; write host:port or host:*.`);
      return { host, port: port === '*' ? undefined : Number(port) };
    });
  return (host, port) => allowed.some((one) => one.host === host && (one.port === undefined || one.port === port));
}

/**
 * Returns which receivers the operator has opened, beside public ones.
 *
 * @throws Error for a setting that can match nothing
 */
export function allowedReceiversOf({ variables }: Pick<Context, 'variables'>): Allowed {
  return allowedReceivers(variables[environment.allowedReceivers] ?? '');
}

/** The port that a URL means. */
export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'http:' ? 80 : 443));
}

/** The literal address that a URL names instead of a host's name, or `undefined`. */
function literalAddress(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) > 0 ? host : undefined;
}

/**
 * What is wrong with a URL to send to, before any name is looked up, or `undefined`: https only, port 443 or 8443, no
 * credentials, no literal address that is not public. What the operator allows may also be http, of any port.
 */
export function faultOfUrl(url: URL, allowed: Allowed): { notHttps: boolean; message: string } | undefined {
  const open = allowed(url.hostname, portOf(url));
  if (url.protocol !== 'https:' && !(open && url.protocol === 'http:'))
    return { notHttps: true, message: 'url must be an https URL' };
  if (url.username || url.password) return { notHttps: false, message: 'url must not carry credentials' };
  if (open) return undefined;
  if (!ports.includes(portOf(url))) return { notHttps: false, message: `url must use port ${ports.join(' or ')}` };
  const literal = literalAddress(url);
  if (literal && !isPublicAddress(literal))
    return { notHttps: false, message: 'url must not name an address that is not public' };
  return undefined;
}

/**
 * Refuses a URL at registration. A host's name is checked when it is dialled: what it resolves to may change.
 *
 * @throws `ApiError` `validation_failed` for what is not https, `url_not_allowed` for the rest
 */
export function rejectUrl(text: string, allowed: Allowed): void {
  const fault = faultOfUrl(new URL(text), allowed);
  if (!fault) return;
  const code = fault.notHttps ? 'validation_failed' : 'url_not_allowed';
  throw new ApiError(code, `${fault.message}.`, [{ path: 'url', code: 'invalid_value', message: fault.message }]);
}
