// A receiver of webhooks with Express 5. It processes each delivery once, and reads the output of agents.
//
//   WEBHOOK_SECRET=a-long-secret npx node docs/examples/express-receiver.ts
//
// For your own project, also copy verify-webhook.ts, client.ts and operations.ts of lib/client.
import { readFileSync } from 'node:fs';
import express from 'express';
import { createClient } from '../../lib/client/client.ts';
import { type Delivery, DeliveryRefused, verifyWebhook } from '../../lib/client/verify-webhook.ts';

const { PORT = '8080', WEBHOOK_SECRET: secret } = process.env;
if (!secret) throw new Error('Set WEBHOOK_SECRET to the secret that the webhook is registered with.');

const crewboard = createClient({
  url: process.env.CREWBOARD_URL ?? 'http://127.0.0.1:3000',
  token: process.env.CREWBOARD_TOKEN ?? readFileSync('.crewboard/token', 'utf8').trim(),
});

const app = express();

// The signature is over the raw bytes of the body, so do not use express.json() before.
app.post('/crewboard', express.raw({ type: '*/*', limit: '1mb' }), async (request, response) => {
  let delivery: Delivery;
  try {
    // Checks the signature in constant time, and that the delivery is at most 5 minutes old.
    delivery = await verifyWebhook({ body: request.body ?? '', headers: request.headers, secret });
  } catch (error) {
    if (!(error instanceof DeliveryRefused)) throw error;
    console.error(`rejected: ${error.message}`);
    response.sendStatus(401);
    return;
  }
  // Answer before the work, which may take longer than the 10 seconds of an attempt.
  response.sendStatus(202);
  if (seen.has(delivery.deliveryId)) return;
  seen.add(delivery.deliveryId);
  work(delivery).catch((error: unknown) => console.error(`${delivery.deliveryId} failed:`, error));
});

// In memory, so lost at a restart, as is unfinished work. In production, put deliveries on a durable queue before you
// answer, and store the ids in your database, in the transaction of the work, for a day.
const seen = new Set<string>();

async function work({ event, data }: Delivery): Promise<void> {
  switch (event) {
    case 'task.status_changed':
      console.log(`${data.task.title}: ${data.task.previousStatus} → ${data.task.status}`);
      break;
    case 'task.completed':
      console.log(`${data.task.title} is done`);
      break;
    case 'agent.completed': {
      // A delivery does not have the output, so read it.
      const { id, agentName } = data.execution;
      const { data: execution } = await crewboard.getExecution({ params: { name: agentName, id } });
      console.log(`${agentName} wrote: ${execution.output}`);
      break;
    }
    case 'agent.failed':
      console.log(`${data.execution.agentName} failed: ${data.execution.error}`);
      break;
    default:
      // Ignore unknown events: later versions may add some. Register only for the events that you process.
      console.log(`nothing to do for ${event}`);
  }
}

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const address = server.address();
  if (address && typeof address === 'object') console.log(`listening on http://127.0.0.1:${address.port}/crewboard`);
});
