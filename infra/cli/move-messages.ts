import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { finish, hold, release } from './held-messages.ts';
import type { Tell } from './progress.ts';

/** Long enough for thousands of messages; one that this process leaves behind is back in its queue after it. */
const heldSeconds = 60 * 60;

/**
 * Moves all messages of a queue to another one, and answers how many. Each is deleted once the other queue has it: one
 * may come to be in both, none in neither.
 */
export async function moveMessages(client: SQSClient, from: string, to: string, tell: Tell): Promise<number> {
  const left = await hold(client, from, { heldSeconds, tell });
  const all = left.length;
  try {
    for (let held = left[0]; held; held = left[0]) {
      await client.send(new SendMessageCommand({ QueueUrl: to, MessageBody: held.body }));
      await finish(client, from, held);
      left.shift();
      tell(`${all - left.length} of ${all} messages moved`);
    }
  } finally {
    await release(client, from, left);
  }
  return all;
}
