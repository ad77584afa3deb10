import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './addresses.ts';

/** Resolves a name to all of its addresses. It stops when the signal aborts, and then need not call the callback. */
export type Resolve = (
  hostname: string,
  signal: AbortSignal,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** The reason why nothing was sent, as a text for the operator of the receiver. */
export class Forbidden extends Error {}

/** The names of this machine, which no resolver must change (RFC 6761, section 6.3). */
export const loopbackName = /(^|\.)localhost\.*$/i;

/** The addresses of these names; no DNS server is asked. */
export const loopbackAddresses: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * How often a DNS server is asked. c-ares waits about 1 s for the first answer, then longer: all tries together take longer
 * than an attempt, so the deadline of the attempt ends them.
 */
const resolverOptions = { timeout: 500, tries: 6 };

/**
 * How long the answer for one address family waits for the answer for the other, in milliseconds. Most receivers can be
 * reached by IPv4 and many machines have no IPv6, so addresses of IPv6 alone wait longer, as with getaddrinfo. The 10 s of
 * an attempt are enough for a connection after that.
 */
const otherFamilyMs = { forIPv4: 8_000, forIPv6: 1_000 };

/**
 * Creates a resolver that asks DNS servers for IPv4 and IPv6 addresses at the same time, by c-ares: its look-ups can be
 * cancelled and use no thread. `dns.lookup` must not be used for receivers: getaddrinfo has a few threads for the whole
 * process, so a few names without an answer would delay all other receivers and the AWS clients.
 *
 * c-ares does not read /etc/hosts and appends no search domain: names must be complete DNS names, or `localhost`.
 *
 * @param servers the DNS servers, as `address:port`; the servers of the system if absent
 */
export function createResolver(servers?: readonly string[]): Resolve {
  return (hostname, signal, callback) => {
    addressesOf(hostname, signal, servers).then(
      (addresses) => callback(null, addresses),
      (error) => callback(error, []),
    );
  };
}

/**
 * Returns the addresses of both families. A family without addresses, with an error, or with an answer that comes later
 * than `otherFamilyMs` after the other, is left out: an address that is not returned is not dialled.
 *
 * @throws Error `ENOTFOUND` if neither family has an address
 */
async function addressesOf(
  hostname: string,
  signal: AbortSignal,
  servers?: readonly string[],
): Promise<LookupAddress[]> {
  if (loopbackName.test(hostname)) return [...loopbackAddresses];
  // Each look-up has its own resolver, because `cancel` ends all look-ups of a resolver.
  const resolver = new Resolver(resolverOptions);
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  const families = [resolver.resolve4(hostname), resolver.resolve6(hostname)] as const;
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const first = await Promise.any([families[0].then(() => 'IPv4'), families[1].then(() => 'IPv6')]);
    const timer = setTimeout(cancel, first === 'IPv4' ? otherFamilyMs.forIPv6 : otherFamilyMs.forIPv4);
    const answers = await Promise.allSettled(families);
    clearTimeout(timer);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  } catch (cause) {
    throw notFound(cause);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

const notFound = (cause?: unknown) => Object.assign(new Error('no address', { cause }), { code: 'ENOTFOUND' });

/**
 * Returns the look-up of a connection to any address.
 *
 * @param signal aborts the look-up when the connection is closed
 */
export function lookupAny(resolve: Resolve, signal: AbortSignal): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, signal, (error, addresses) => {
      if (error) return callback(error, '');
      const [first] = addresses;
      if (!first) return callback(notFound(), '');
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

/**
 * Returns the look-up of a connection to public addresses only. It rejects a name if any of its addresses is not public. A
 * connection dials only the addresses of its look-up, calls it once, and never for a literal address.
 *
 * @param signal aborts the look-up when the connection is closed
 */
export function lookupPublic(resolve: Resolve, signal: AbortSignal): LookupFunction {
  return (hostname, options, callback) => {
    if (loopbackName.test(hostname)) return callback(new Forbidden('localhost is not a public name'), '');
    const publicOnly: Resolve = (name, sought, found) =>
      resolve(name, sought, (error, addresses) => {
        const forbidden = !error && addresses.some(({ address }) => !isPublicAddress(address));
        found(forbidden ? new Forbidden('the name resolves to an address that is not public') : error, addresses);
      });
    return lookupAny(publicOnly, signal)(hostname, options, callback);
  };
}
