import ipaddr from 'ipaddr.js';

/** Azure's platform address: public by its range, but it answers with a machine's own metadata. */
const platformAddresses = ['168.63.129.16'];

/** IPv6 that is routed in the Internet lies here; all else is local, mapped, reserved or a tunnel's. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Whether an address is a public unicast one: nothing local, private, shared, reserved or reached through a tunnel.
 * An IPv4 address mapped into IPv6 is judged as the IPv4 address that it is.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || platformAddresses.includes(parsed.toString())) return false;
  return parsed.kind() === 'ipv4' || parsed.match(globalUnicast);
}
