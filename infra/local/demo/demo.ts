import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Problem } from '../../problem.ts';
import { connectDemo, disconnectDemo, problemOfCall } from './demo-client.ts';
import { leaveDeliveries } from './demo-deliveries.ts';
import { startReceiver } from './demo-receiver.ts';
import { runSplit } from './demo-split.ts';
import { runExecutions } from './demo-steps.ts';

/**
 * `npm run demo`: executes an agent on two tasks, lets an agent with tools split a third one, and prints each webhook
 * delivery with its verified signature. With `--keep` the agents, their executions and the tasks stay in the service, and a
 * paused webhook with deliveries in different states; the other webhook is deleted, because its receiver stops.
 */
async function main(args: string[]): Promise<void> {
  const keep = readKeep(args);
  const client = await connectDemo(keep);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      client.isInterrupted = true;
    });
  const secret = randomBytes(24).toString('base64url');
  const receiver = await startReceiver(secret);
  console.log(`The service is at ${client.url}. A webhook receiver listens at ${receiver.url}.\n`);
  try {
    const demo = { client, receiver, secret };
    await runSplit(demo, await runExecutions(demo));
    if (keep) await leaveDeliveries(demo);
  } finally {
    await disconnectDemo(client, keep);
    receiver.stop();
    console.log(
      keep
        ? `\nThe tasks, the agents, their executions and the paused webhook stay. To look at them, open ${client.url}.`
        : '\nThe demo has deleted everything that it created.',
    );
  }
}

function readKeep(args: string[]): boolean {
  try {
    return parseArgs({ args, options: { keep: { type: 'boolean', default: false } } }).values.keep;
  } catch (error) {
    throw new Problem(`${(error as Error).message}\nUsage: npm run demo -- [--keep]`);
  }
}

main(process.argv.slice(2)).then(
  () => process.exit(),
  (error: unknown) => {
    const failure = problemOfCall(error);
    console.error(failure === undefined ? error : `The demo has failed: ${failure}`);
    process.exit(1);
  },
);
