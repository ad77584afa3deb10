import type { LookupAddress, LookupAllOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './addresses.ts';

/** Finds every address of a name, as `node:dns` does. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Why nothing was sent, in words for the receiver's operator. */
export class Forbidden extends Error {}

/** The names that mean the asking machine itself, whatever a resolver makes of them (RFC 6761, section 6.3). */
const loopbackName = /(^|\.)localhost\.*$/i;

/** The look-up of a connection that may go to any address. */
export function lookupAny(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '');
      const [first] = addresses;
      if (!first) return callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '');
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

/**
 * The look-up of a connection that may go to public addresses only. It refuses a name if any of its addresses is not
 * public: the one dialled is one of these. A connection calls it once and never for a literal address.
 */
export function lookupPublic(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    if (loopbackName.test(hostname)) return callback(new Forbidden('localhost is not a public name'), '');
    const publicOnly: Resolve = (name, sought, found) =>
      resolve(name, sought, (error, addresses) => {
        const forbidden = !error && addresses.some(({ address }) => !isPublicAddress(address));
        found(forbidden ? new Forbidden('the name resolves to an address that is not public') : error, addresses);
      });
    return lookupAny(publicOnly)(hostname, options, callback);
  };
}
