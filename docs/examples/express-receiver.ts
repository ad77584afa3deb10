// A receiver of webhooks with Express 5. It works on each delivery once, and reads what an agent has written.
//
//   WEBHOOK_SECRET=a-long-secret npx node docs/examples/express-receiver.ts
//
// For a project of your own copy verify-webhook.ts, client.ts and operations.ts of lib/client too.
import { readFileSync } from 'node:fs';
import express from 'express';
import { openClient } from '../../lib/client/client.ts';
import type { Deliveries } from '../../lib/client/operations.ts';
import { DeliveryRefused, verifyWebhook } from '../../lib/client/verify-webhook.ts';

type Delivery = Deliveries[keyof Deliveries];

const { PORT = '8080', WEBHOOK_SECRET: secret } = process.env;
if (!secret) throw new Error('Set WEBHOOK_SECRET to the secret that the webhook is registered with.');

const crewboard = openClient({
  url: process.env.CREWBOARD_URL ?? 'http://127.0.0.1:3000',
  token: process.env.CREWBOARD_TOKEN ?? readFileSync('.crewboard/token', 'utf8').trim(),
});

const app = express();

// The raw body, for the signature is over its bytes: no express.json() may come before.
app.post('/crewboard', express.raw({ type: '*/*', limit: '1mb' }), (request, response) => {
  let delivery: Delivery;
  try {
    // Checks the signature in constant time, and the age: a delivery of more than 5 minutes ago is a replay.
    delivery = verifyWebhook({ body: request.body ?? '', headers: request.headers, secret }) as Delivery;
  } catch (error) {
    if (!(error instanceof DeliveryRefused)) throw error;
    console.error(`refused: ${error.message}`);
    response.sendStatus(401);
    return;
  }
  // Before the work, which may take longer than the 10 seconds that a receiver has.
  response.sendStatus(202);
  if (seen.has(delivery.deliveryId)) return;
  seen.add(delivery.deliveryId);
  work(delivery).catch((error: unknown) => console.error(`${delivery.deliveryId} failed:`, error));
});

// In memory a restart forgets what was seen and what was under way. In earnest, put deliveries on a queue that lasts
// before you answer, and keep the ids in your database, in the transaction of the work; a day is long enough.
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
      // A delivery has no output: it is read.
      const { id, agentName } = data.execution;
      const { data: execution } = await crewboard.getExecution({ params: { name: agentName, id } });
      console.log(`${agentName} wrote: ${execution.output}`);
      break;
    }
    case 'agent.failed':
      console.log(`${data.execution.agentName} failed: ${data.execution.error}`);
      break;
    default:
      // Register for the events that you work on, and leave alone what else may come one day.
      console.log(`nothing to do for ${event}`);
  }
}

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const address = server.address();
  if (address && typeof address === 'object') console.log(`listening on http://127.0.0.1:${address.port}/crewboard`);
});
