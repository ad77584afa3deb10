import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The platform address of Azure: its range is public, but it serves the metadata of the machine. */
const platformAddresses = ['168.63.129.16'];

/** The IPv6 addresses of the Internet; all others are local, mapped, reserved or for tunnels (RFC 4291). */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Returns whether an address is a public unicast address: not local, private, shared, reserved or for a tunnel, and in no
 * block of IANA's IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890). An IPv4-mapped IPv6 address counts as its
 * IPv4 address. The result is `false` for text that `node:net` does not dial, such as `127.1`, and for an address with a
 * zone, which is a link of this machine (RFC 4007).
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || platformAddresses.includes(parsed.toString())) return false;
  return parsed.kind() === 'ipv4' || parsed.match(globalUnicast);
}
