import ipaddr from 'ipaddr.js';

/**
 * Blocks that no receiver is in: IANA's IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890) whole, those within
 * one another left out, with multicast, what is deprecated, and IPv4 in IPv6 of old.
 */
export const specialBlocks: [name: string, block: string][] = [
  ['this network', '0.0.0.0/8'],
  ['private', '10.0.0.0/8'],
  ['shared by a carrier', '100.64.0.0/10'],
  ['loopback', '127.0.0.0/8'],
  ['link-local', '169.254.0.0/16'],
  ['private', '172.16.0.0/12'],
  ['protocol assignments', '192.0.0.0/24'],
  ['documentation', '192.0.2.0/24'],
  ['AS112', '192.31.196.0/24'],
  ['AMT', '192.52.193.0/24'],
  ['6to4 relays', '192.88.99.0/24'],
  ['private', '192.168.0.0/16'],
  ['AS112', '192.175.48.0/24'],
  ['benchmarking', '198.18.0.0/15'],
  ['documentation', '198.51.100.0/24'],
  ['documentation', '203.0.113.0/24'],
  ['multicast', '224.0.0.0/4'],
  ['reserved', '240.0.0.0/4'],
  ['unspecified, loopback and IPv4-compatible', '::/96'],
  ['IPv4-translated', '::ffff:0:0:0/96'],
  ['local NAT64', '64:ff9b:1::/48'],
  ['discard', '100::/64'],
  ['dummy', '100:0:0:1::/64'],
  ['protocol assignments, with Teredo and ORCHIDv2', '2001::/23'],
  ['documentation', '2001:db8::/32'],
  ['6to4', '2002::/16'],
  ['AS112', '2620:4f:8000::/48'],
  ['documentation', '3fff::/20'],
  ['SRv6', '5f00::/16'],
  ['unique-local', 'fc00::/7'],
  ['link-local', 'fe80::/10'],
  ['site-local', 'fec0::/10'],
  ['multicast', 'ff00::/8'],
];

/** The address of a block whose bits behind the prefix are the bits of the bytes in `fill`, over and over. */
export function addressIn(block: string, fill: number[]): string {
  const [base, prefix] = ipaddr.parseCIDR(block);
  const bytes = base.toByteArray().map((byte, nth) => {
    const free = Math.min(Math.max((nth + 1) * 8 - prefix, 0), 8);
    return byte + ((fill[nth % fill.length] ?? 0) % 2 ** free);
  });
  return ipaddr.fromByteArray(bytes).toNormalizedString();
}

/** The block of NAT64, in which the IPv4 address decides. Its ends are in special blocks of IPv4. */
const nat64: [name: string, block: string] = ['NAT64', '64:ff9b::/96'];

export const specialEnds = [...specialBlocks, nat64].flatMap(([name, block]) =>
  [0, 0xff].map((fill): [name: string, address: string] => [name, addressIn(block, [fill])]),
);

/** Addresses that are known to tell a machine's secrets, and others that are refused by name. */
export const dangerousAddresses: [name: string, address: string][] = [
  ['metadata of a machine', '169.254.169.254'],
  ['metadata of a machine, over IPv6', 'fd00:ec2::254'],
  ['metadata of a container', '169.254.170.2'],
  ['metadata of Azure', '168.63.129.16'],
  ['mapped loopback', '::ffff:127.0.0.1'],
  ['mapped metadata', '::ffff:a9fe:a9fe'],
  ['mapped metadata of Azure', '::ffff:168.63.129.16'],
  ['metadata through NAT64', '64:ff9b::a9fe:a9fe'],
  ['metadata through NAT64, in dots', '64:ff9b::169.254.169.254'],
  ['metadata of Azure through NAT64', '64:ff9b::a83f:8110'],
  ['loopback through NAT64', '64:ff9b::7f00:1'],
  ['private through NAT64', '64:ff9b::a00:1'],
  ['a public address through local NAT64', '64:ff9b:1::101:101'],
  ['a public address through 6to4', '2002:101:101::'],
  ['a public address beside NAT64', '64:ff9b::1:101:101'],
  ['loopback through 6to4', '2002:7f00:1::'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['ORCHIDv2', '2001:20::1'],
];

/** Public addresses of no receiver of ours: nothing is ever sent there. */
export const publicAddresses = ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c', '64:ff9b::101:101'];
