import { isIP } from 'node:net';
import { ApiError } from '../contract/errors.ts';
import type { AllowedReceivers } from '../settings/allowed-receivers.ts';
import { isPublicAddress } from './addresses.ts';

/** Ports of https receivers that need no permission of the operator. */
const ports = [443, 8443];

/** Returns the port of a URL. */
export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'http:' ? 80 : 443));
}

/** Returns the host name of a URL, or its literal address, of IPv6 without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Returns the literal address of a URL; `undefined` for a URL with a host name. */
function literalAddress(url: URL): string | undefined {
  const host = hostOf(url);
  return isIP(host) > 0 ? host : undefined;
}

/**
 * Returns why a URL cannot be a receiver; `undefined` if it can. No name is looked up. A receiver uses https on port 443
 * or 8443, without credentials, and has no literal address that is not public. A receiver that the operator allows may
 * use http, any port and any address.
 */
export function faultOfUrl(
  url: URL,
  allowedReceivers: AllowedReceivers,
): { notHttps: boolean; message: string } | undefined {
  const isAllowed = allowedReceivers(url.hostname, portOf(url));
  if (url.protocol !== 'https:' && !(isAllowed && url.protocol === 'http:'))
    return {
      notHttps: true,
      message: 'url must be an https URL; http is only for receivers that the operator allows (ALLOWED_RECEIVERS)',
    };
  if (url.username || url.password) return { notHttps: false, message: 'url must not carry credentials' };
  if (isAllowed) return undefined;
  if (!ports.includes(portOf(url))) return { notHttps: false, message: `url must use port ${ports.join(' or ')}` };
  const literal = literalAddress(url);
  if (literal && !isPublicAddress(literal))
    return { notHttps: false, message: 'url must not name an address that is not public' };
  return undefined;
}

/**
 * Rejects a URL at registration. The addresses of a host name are checked at each attempt, because they can change.
 *
 * @throws `ApiError` `validation_failed` for a URL that is not https, `url_not_allowed` for other faults
 */
export function rejectUrl(text: string, allowedReceivers: AllowedReceivers): void {
  const fault = faultOfUrl(new URL(text), allowedReceivers);
  if (!fault) return;
  const code = fault.notHttps ? 'validation_failed' : 'url_not_allowed';
  throw new ApiError(code, `${fault.message}.`, [{ path: 'url', code: 'invalid_value', message: fault.message }]);
}
