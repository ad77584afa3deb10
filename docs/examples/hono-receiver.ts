// A receiver of webhooks with Hono. It keeps the status of tasks in SQLite, and drops duplicates and older events.
//
//   WEBHOOK_SECRET=a-long-secret npx node docs/examples/hono-receiver.ts
//
// For your own project, also copy lib/client/verify-webhook.ts.
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { type Delivery, DeliveryRefused, verifyWebhook } from '../../lib/client/verify-webhook.ts';

// DATABASE is the path of a file. Without it, a restart loses all data.
const { PORT = '8080', WEBHOOK_SECRET: secret, DATABASE = ':memory:' } = process.env;
if (!secret) throw new Error('Set WEBHOOK_SECRET to the secret that the webhook is registered with.');

const database = new DatabaseSync(DATABASE);
database.exec(`
  CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY, received_at INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS tasks (id TEXT PRIMARY KEY, title TEXT, status TEXT, sequence INTEGER NOT NULL);
`);
const forgetOldDeliveries = database.prepare('DELETE FROM deliveries WHERE received_at < ?');
const rememberDelivery = database.prepare('INSERT INTO deliveries VALUES (?, ?) ON CONFLICT DO NOTHING');
// An event of a later change has a greater sequence. Two events of one change have the same.
const storeTask = database.prepare(`
  INSERT INTO tasks VALUES (?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET title = excluded.title, status = excluded.status, sequence = excluded.sequence
  WHERE excluded.sequence >= tasks.sequence
`);

const app = new Hono();

app.post('/crewboard', bodyLimit({ maxSize: 1024 * 1024 }), async (context) => {
  let delivery: Delivery;
  try {
    // The signature is over the raw bytes of the body. Checks it in constant time, and that the delivery is at most 5
    // minutes old.
    const body = await context.req.arrayBuffer();
    delivery = await verifyWebhook({ body, headers: context.req.raw.headers, secret });
  } catch (error) {
    if (!(error instanceof DeliveryRefused)) throw error;
    console.error(`rejected: ${error.message}`);
    return context.body(null, 401);
  }
  // A quick write. If it fails, Hono answers 500 and the delivery is retried.
  work(delivery);
  return context.body(null, 204);
});

/** Stores an event. The id of its delivery is stored in the same transaction: a crash neither loses nor repeats work. */
function work({ deliveryId, event, data }: Delivery): void {
  const now = Date.now();
  database.exec('BEGIN IMMEDIATE');
  try {
    // Retries end after two and a half hours.
    forgetOldDeliveries.run(now - 24 * 60 * 60 * 1000);
    const isNew = rememberDelivery.run(deliveryId, now).changes > 0;
    // Ignore the other events: later versions may add some. Register only for the events that you process.
    if (isNew && 'task' in data) {
      const { id, title, status } = data.task;
      const isStored = storeTask.run(id, title, status, data.sequence ?? 0).changes > 0;
      console.log(isStored ? `${title}: ${status}` : `${title}: dropped an older event, ${event}`);
    }
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' }, ({ port }: AddressInfo) => {
  console.log(`listening on http://127.0.0.1:${port}/crewboard`);
});
