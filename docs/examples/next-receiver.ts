// A receiver of webhooks with Next.js: a route handler of the App Router. Copy it into your app:
//
//   cp docs/examples/next-receiver.ts ../my-app/app/crewboard/route.ts
//
// Also copy lib/client/verify-webhook.ts beside it, and import it from './verify-webhook'.
import { type Delivery, DeliveryRefused, verifyWebhook } from '../../lib/client/verify-webhook.ts';

const bodyLimit = 1024 * 1024;

export async function POST(request: Request): Promise<Response> {
  // Not at the top of the file: `next build` loads the file too, and may not have the secret.
  const secret = process.env.WEBHOOK_SECRET;
  if (!secret) throw new Error('Set WEBHOOK_SECRET to the secret that the webhook is registered with.');
  // Each delivery has a Content-Length.
  const isShort = Number(request.headers.get('Content-Length') ?? Number.NaN) <= bodyLimit;
  if (!isShort) return new Response(null, { status: 413 });
  let delivery: Delivery;
  try {
    // The signature is over the raw bytes of the body, so do not use request.json(). Checks it in constant time, and that the
    // delivery is at most 5 minutes old.
    delivery = await verifyWebhook({ body: await request.arrayBuffer(), headers: request.headers, secret });
  } catch (error) {
    if (!(error instanceof DeliveryRefused)) throw error;
    console.error(`rejected: ${error.message}`);
    return new Response(null, { status: 401 });
  }
  // Hosts of functions stop them after the response, so work before it. The work is one quick write; send longer work to a
  // queue here. If it fails, Next.js answers 500 and the delivery is retried.
  if (!seen.has(delivery.deliveryId)) {
    await work(delivery);
    seen.add(delivery.deliveryId);
  }
  return new Response(null, { status: 204 });
}

// In memory, so each instance has its own. In production, store the ids in your database, in the transaction of the work, for a
// day.
const seen = new Set<string>();

async function work({ event, data }: Delivery): Promise<void> {
  switch (event) {
    case 'task.completed':
      console.log(`${data.task.title} is done`);
      break;
    case 'agent.failed':
      console.log(`${data.execution.agentName} failed: ${data.execution.error}`);
      break;
    default:
      // Ignore unknown events: later versions may add some. Register only for the events that you process.
      console.log(`nothing to do for ${event}`);
  }
}
