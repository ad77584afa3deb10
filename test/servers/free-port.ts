import { startLoopbackServer } from './loopback.ts';

/** Returns a port of the loopback at which nothing listens. */
export async function freePort(): Promise<number> {
  const { port, close } = await startLoopbackServer(() => {});
  await close();
  return port;
}
