import { createServer } from 'node:http';
import { type Delivery, DeliveryRefused, verifyWebhook } from '../../../lib/client/verify-webhook.ts';
import { Problem } from '../../problem.ts';

/** A webhook receiver as a user would write it: it verifies each delivery and responds at once. */
export type Receiver = {
  url: string;
  /**
   * Returns whether it has received an event of a task or an execution with this status.
   *
   * @throws `Problem` if it has rejected a delivery
   */
  hasReceived: (event: Delivery['event'], id: string, status: string) => boolean;
  stop: () => void;
};

/** Starts a receiver on a free loopback port. It prints each delivery when it arrives and its signature is verified. */
export async function startReceiver(secret: string): Promise<Receiver> {
  const received = new Set<string>();
  let rejection: string | undefined;
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    try {
      const delivery = await verifyWebhook({ body, headers: request.headers, secret });
      response.end('thank you');
      const { id, status } = subjectOf(delivery);
      console.log(lineOf(delivery));
      received.add(`${delivery.event} ${id} ${status}`);
    } catch (error) {
      if (!(error instanceof DeliveryRefused)) throw error;
      response.writeHead(400).end(error.message);
      rejection = error.message;
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    hasReceived: (event, id, status) => {
      if (rejection) throw new Problem(`The receiver has rejected a delivery. ${rejection}`);
      return received.has(`${event} ${id} ${status}`);
    },
    stop: () => server.close(),
  };
}

/** Returns the task, the execution or the webhook of a delivery. */
function subjectOf({ data }: Delivery): { id: string; status: string; previousStatus?: string } {
  if ('webhook' in data) return { id: data.webhook.id, status: data.webhook.active ? 'active' : 'paused' };
  return 'task' in data ? data.task : data.execution;
}

function lineOf(delivery: Delivery): string {
  const { id, status, previousStatus } = subjectOf(delivery);
  const change = previousStatus ? `${previousStatus} → ${status}` : status;
  return `   ⇠ ${delivery.event.padEnd(20)} ${id} ${change}   signature valid`;
}
