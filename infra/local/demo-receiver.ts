import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';

/** A delivery as the receiver got it, and whether its signature is right. */
export type Received = {
  event: string;
  deliveryId: string;
  genuine: boolean;
  body: { data: { task: Record<string, string> } };
};

/** A receiver that somebody could run: takes deliveries, checks their signatures, answers at once. */
export type Receiver = { url: string; stop: () => void };

/**
 * Starts a receiver on a free port of the loopback.
 *
 * @param onDelivery is called for each delivery, after it has been answered
 */
export async function startReceiver(secret: string, onDelivery: (received: Received) => void): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const raw = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    response.end('thank you');
    const body = JSON.parse(raw.toString('utf8')) as Received['body'] & { event: string; deliveryId: string };
    onDelivery({ event: body.event, deliveryId: body.deliveryId, genuine: isGenuine(request, raw, secret), body });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/hooks`, stop: () => server.close() };
}

/** The signature is over the raw bytes: parse the body after the check, never before. */
function isGenuine({ headers }: IncomingMessage, raw: Buffer, secret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
  const given = Buffer.from(String(headers['x-service-signature'] ?? ''));
  return given.length === expected.length && timingSafeEqual(given, expected);
}
