import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isIP, Socket } from 'node:net';

/**
 * Keeps the connections and the DNS requests of the fuzzed service on the loopback; loaded before all other modules. Each
 * host of a refused connection or request is a line in the file that `FUZZ_FENCE` names.
 */
const noted = process.env.FUZZ_FENCE as string;

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || /^127\./.test(host);

/** Returns the error of an attempt to leave: an unknown name, or an address without a listener. */
function refused(what: string, code: string): Error {
  appendFileSync(noted, `${what}\n`);
  return Object.assign(new Error(`${what} is outside the loopback`), { code });
}

// The sender resolves names by c-ares. No DNS server is asked; names of the loopback are not resolved here.
for (const resolve of ['resolve4', 'resolve6'] as const)
  dns.promises.Resolver.prototype[resolve] = (async (host: string) => {
    throw refused(host, 'ENOTFOUND');
  }) as unknown as dns.promises.Resolver[typeof resolve];

type Lookup = (host: string, ...rest: [(error: Error) => void] | [unknown, (error: Error) => void]) => void;
const lookup = dns.lookup as Lookup;
dns.lookup = ((host, ...rest) => {
  if (isLoopback(host) || isIP(host)) return lookup(host, ...rest);
  const callback = rest.at(-1) as (error: Error) => void;
  process.nextTick(callback, refused(host, 'ENOTFOUND'));
}) satisfies Lookup as unknown as typeof dns.lookup;
syncBuiltinESMExports();

const { connect } = Socket.prototype;
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  // Node's own modules pass the normalized arguments in an array, callers pass them one by one.
  const [target] = args.flat() as [{ host?: string } | undefined];
  const host = typeof target === 'object' ? target.host : undefined;
  if (host && isIP(host) && !isLoopback(host)) return this.destroy(refused(host, 'ECONNREFUSED'));
  return Reflect.apply(connect, this, args);
} as typeof connect;
