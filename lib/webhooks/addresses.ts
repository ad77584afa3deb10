import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Azure's platform address: public by its range, but it answers with a machine's own metadata. */
const platformAddresses = ['168.63.129.16'];

/** IPv6 that is routed in the Internet lies here; all else is local, mapped, reserved or a tunnel's (RFC 4291). */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Whether an address is a public unicast one: nothing local, private, shared, reserved or reached through a tunnel, and
 * in no block of IANA's IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890). An IPv4 address mapped into IPv6
 * is judged as the IPv4 address that it is. No address is what `node:net` would not dial, such as `127.1`; nor is one
 * with a zone, which means a link of the asking machine (RFC 4007).
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || platformAddresses.includes(parsed.toString())) return false;
  return parsed.kind() === 'ipv4' || parsed.match(globalUnicast);
}
