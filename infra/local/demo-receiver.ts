import { createServer } from 'node:http';
import { type Delivery, DeliveryRefused, verifyWebhook } from '../../lib/client/verify-webhook.ts';

/** A receiver that somebody could run: takes deliveries, checks them, answers at once. */
export type Receiver = { url: string; stop: () => void };

/** What a receiver hears: the deliveries that are genuine, and why it refused the others. */
export type Listener = { onDelivery: (delivery: Delivery) => void; onRefusal: (why: string) => void };

/**
 * Starts a receiver on a free port of the loopback.
 *
 * @param listener is called for each request, after it has been answered
 */
export async function startReceiver(secret: string, { onDelivery, onRefusal }: Listener): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    try {
      const delivery = verifyWebhook({ body, headers: request.headers, secret });
      response.end('thank you');
      onDelivery(delivery);
    } catch (error) {
      if (!(error instanceof DeliveryRefused)) throw error;
      response.writeHead(400).end(error.message);
      onRefusal(error.message);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/hooks`, stop: () => server.close() };
}
