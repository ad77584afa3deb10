import { isIP } from 'node:net';
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js';

/** The platform address of Azure: its range is public, but it serves the metadata of the machine. */
const platformAddresses = ['168.63.129.16'];

/**
 * The addresses by which a network with IPv6 only reaches IPv4: their last 32 bits are the IPv4 address (RFC 6052). The
 * prefixes that a network chooses itself (64:ff9b:1::/48, RFC 8215) stay closed: it can lead them anywhere.
 */
const nat64 = ipaddr.parseCIDR('64:ff9b::/96');

/** The IPv6 addresses of the Internet; all others are local, mapped, reserved or for tunnels (RFC 4291). */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Returns whether an address is a public unicast address: not local, private, shared, reserved or for a tunnel, and in no
 * block of IANA's IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890). An IPv4-mapped IPv6 address and one of NAT64
 * count as their IPv4 address. The result is `false` for text that `node:net` does not dial, such as `127.1`, and for an address with a
 * zone, which is a link of this machine (RFC 4007).
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = dialled(ipaddr.process(address));
  if (parsed.range() !== 'unicast' || platformAddresses.includes(parsed.toString())) return false;
  return parsed.kind() === 'ipv4' || parsed.match(globalUnicast);
}

/** Returns the address at which a connection ends: for an address of NAT64, its IPv4 address. */
function dialled(address: IPv4 | IPv6): IPv4 | IPv6 {
  const isNat64 = address.kind() === 'ipv6' && address.match(nat64);
  return isNat64 ? ipaddr.fromByteArray(address.toByteArray().slice(-4)) : address;
}
