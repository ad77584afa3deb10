import { once } from 'node:events';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { type MockInstance, vi } from 'vitest';

/** The handle of a socket of the operating system, to which Node.js passes each dial, with or without TLS. */
type Handle = Record<'connect' | 'connect6', (request: object, address: string, port: number) => number>;

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const handle: Handle = Object.getPrototypeOf((server as unknown as { _handle: object })._handle);
server.close();

/** How a dial ends that is stopped: refused, unreachable, or without an answer of any kind. */
const ends = { ECONNREFUSED: -constants.errno.ECONNREFUSED, ENETUNREACH: -constants.errno.ENETUNREACH, silence: 0 };

/**
 * Sees every dial from now on and stops it, so that nothing leaves this machine. It stands behind the look-up and
 * Node.js' own choice among addresses, where no dial can pass it by.
 *
 * @returns what is dialled, in its order: `address port`
 */
export function stopDials(end: keyof typeof ends = 'ECONNREFUSED'): string[] {
  const dialled: string[] = [];
  const stop = (_: object, address: string, port: number) => {
    dialled.push(`${address} ${port}`);
    return ends[end];
  };
  for (const dial of ['connect', 'connect6'] as const)
    (vi.spyOn(handle, dial) as MockInstance<Handle['connect']>).mockImplementation(stop);
  return dialled;
}
