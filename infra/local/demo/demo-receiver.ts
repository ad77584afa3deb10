import { createServer } from 'node:http';
import { type Delivery, DeliveryRefused, verifyWebhook } from '../../../lib/client/verify-webhook.ts';
import { Problem } from '../problem.ts';

/** A receiver that somebody could run: takes deliveries, checks them, answers at once. */
export type Receiver = {
  url: string;
  /**
   * Whether it was told of an event that brought this task or execution to this status.
   *
   * @throws `Problem` once it has refused a delivery
   */
  hasHeard: (event: Delivery['event'], id: string, status: string) => boolean;
  stop: () => void;
};

/** Starts a receiver on a free port of the loopback. It shows each delivery as it arrives, with its signature checked. */
export async function startReceiver(secret: string): Promise<Receiver> {
  const heard = new Set<string>();
  let refusal: string | undefined;
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    try {
      const delivery = verifyWebhook({ body, headers: request.headers, secret });
      response.end('thank you');
      const { id, status } = subjectOf(delivery);
      console.log(lineOf(delivery));
      heard.add(`${delivery.event} ${id} ${status}`);
    } catch (error) {
      if (!(error instanceof DeliveryRefused)) throw error;
      response.writeHead(400).end(error.message);
      refusal = error.message;
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    hasHeard: (event, id, status) => {
      if (refusal) throw new Problem(`The receiver refused a delivery. ${refusal}`);
      return heard.has(`${event} ${id} ${status}`);
    },
    stop: () => server.close(),
  };
}

/** What a delivery tells of. */
function subjectOf({ data }: Delivery): { id: string; status: string; previousStatus?: string } {
  return 'task' in data ? data.task : data.execution;
}

function lineOf(delivery: Delivery): string {
  const { id, status, previousStatus } = subjectOf(delivery);
  const moved = previousStatus ? `${previousStatus} → ${status}` : status;
  return `   ⇠ ${delivery.event.padEnd(20)} ${id} ${moved}   signature valid`;
}
