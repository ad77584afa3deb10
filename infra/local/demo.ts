import { randomBytes } from 'node:crypto';
import { connectDemo, disconnectDemo } from './demo/demo-client.ts';
import { startReceiver } from './demo/demo-receiver.ts';
import { runDemo } from './demo/demo-steps.ts';
import { Problem } from './problem.ts';

/** `npm run demo`: executes an agent on two tasks, and prints each webhook delivery with its verified signature. */
async function main(): Promise<void> {
  const client = await connectDemo();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      client.isInterrupted = true;
    });
  const secret = randomBytes(24).toString('base64url');
  const receiver = await startReceiver(secret);
  console.log(`The service is at ${client.url}. A webhook receiver listens at ${receiver.url}.\n`);
  try {
    await runDemo({ client, receiver, secret });
  } finally {
    await disconnectDemo(client);
    receiver.stop();
    console.log('\nThe demo has deleted everything that it created.');
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error instanceof Problem ? `The demo has failed: ${error.message}` : error);
    process.exit(1);
  },
);
