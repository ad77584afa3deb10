import { randomBytes } from 'node:crypto';
import { findStage } from './demo/demo-client.ts';
import { startReceiver } from './demo/demo-receiver.ts';
import { tellStory } from './demo/demo-steps.ts';
import { Problem } from './problem.ts';

/** `npm run demo`: an agent at work on the board, and every delivery as it arrives with its signature checked. */
async function main(): Promise<void> {
  const stage = await findStage();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stage.interrupt);
  const secret = randomBytes(24).toString('base64url');
  const receiver = await startReceiver(secret);
  console.log(`The service is at ${stage.url}, a receiver listens at ${receiver.url}.\n`);
  try {
    await tellStory({ stage, receiver, secret, say: console.log });
  } finally {
    await stage.leave();
    receiver.stop();
    console.log('\nAll that the demo has made is deleted again.');
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error instanceof Problem ? `The demo has ended: ${error.message}` : error);
    process.exit(1);
  },
);
