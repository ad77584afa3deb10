import type { SQSClient } from '@aws-sdk/client-sqs';
import { finish, type Held, hold, release } from './held-messages.ts';
import type { Tell } from './progress.ts';

/** Long enough for thousands of changes; one that this process leaves behind is back in the queue after it. */
const heldSeconds = 60 * 60;

/** A change of the table, as its stream tells it. */
export type ChangeRecord = { eventID: string };

/** Hands a change to the function that publishes; answers what it failed for, if it did. */
export type Publish = (change: ChangeRecord) => Promise<string | undefined>;

/** What became of the changes that had been set aside. */
export type Redriven = {
  /** Handled and deleted. */
  done: number;
  /** Handled as hopeless again: each is in the queue anew, set aside by the function itself. */
  setAside: number;
  /** Not handled: each is in the queue as it was, with what the function said. */
  failed: string[];
};

/**
 * Hands the changes that were set aside to the function that set them aside, in its deployment as it is now. A change
 * is deleted once the function has it, and not before.
 */
export async function redriveChanges(sqs: SQSClient, url: string, publish: Publish, tell: Tell): Promise<Redriven> {
  // All of them first: what is set aside again meanwhile must not be taken for one that waits.
  const left = await hold(sqs, url, { heldSeconds, tell });
  const all = left.length;
  const handled = new Set<string | undefined>();
  const failed: string[] = [];
  const back: Held[] = [];
  try {
    for (let held = left[0]; held; held = left[0]) {
      const change = changeIn(held);
      const fault = change ? await publish(change) : 'it is no change of the table';
      left.shift();
      if (fault === undefined) {
        await finish(sqs, url, held);
        handled.add(change?.eventID);
      } else {
        back.push(held);
        failed.push(`${held.id}: ${fault}`);
      }
      tell(`${all - left.length} of ${all} changes handed to the publisher`);
    }
  } finally {
    await release(sqs, url, [...back, ...left]);
  }
  const again = await hold(sqs, url, { heldSeconds });
  await release(sqs, url, again);
  const setAside = again.filter((held) => handled.has(changeIn(held)?.eventID)).length;
  return { done: handled.size - setAside, setAside, failed };
}

/** The stream's record that a message holds. */
function changeIn({ body }: Held): ChangeRecord | undefined {
  try {
    const record = JSON.parse(body) as ChangeRecord | null;
    return typeof record?.eventID === 'string' ? record : undefined;
  } catch {
    return undefined;
  }
}
