import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { messageGroupOf } from '../../../lib/aws/queue.ts';
import type { Report } from '../progress.ts';
import { type Kind, kindOf } from './dead-letter-kinds.ts';
import { type ReceivedDeadLetter, withReceivedMessages } from './received-messages.ts';
import type { RedriveTargets } from './redrive-targets.ts';

/** The visibility timeout of dead letters during a redrive or a drop, long enough for thousands of them. */
export const redriveVisibilitySeconds = 60 * 60;

/** The result of a redrive. */
export type Redriven = {
  /** The kind of each dead letter that left the dead-letter queue. */
  done: Kind[];
  /** The number of changes that the publisher could not publish either, and has set aside as dead letters again. */
  setAside: number;
  /** The id and the error of each dead letter that stays in the dead-letter queue. */
  failed: string[];
};

/**
 * Redrives dead letters of some kinds: sends messages to their queue, and gives changes to the publisher. Deletes each
 * dead letter after that. If this process is killed in between, the message is in both queues, which is harmless: the
 * consumer reads from the table what remains to be done.
 */
export async function redrive(targets: RedriveTargets, wanted: readonly Kind[], report: Report): Promise<Redriven> {
  const { sqs, urls } = targets;
  // All dead letters are received first, so that messages that become dead letters again meanwhile are not handled twice.
  const options = { visibilitySeconds: redriveVisibilitySeconds, report };
  return withReceivedMessages(sqs, urls.deadLetters, options, async (received, deleteMessage) => {
    const deadLetters = received.filter(({ body }) => wanted.includes(kindOf(body)));
    const handled: ReceivedDeadLetter[] = [];
    const failed: string[] = [];
    for (const deadLetter of deadLetters) {
      const error = await sendAgain(targets, deadLetter);
      if (error === undefined) {
        await deleteMessage(deadLetter);
        handled.push(deadLetter);
      } else failed.push(`${deadLetter.id}: ${error}`);
      report(`${handled.length + failed.length} of ${deadLetters.length} dead letters redriven`);
    }
    const setAside = new Set(await changesIn(targets));
    const done = handled.filter((deadLetter) => !setAside.has(changeIdOf(deadLetter) ?? ''));
    return { done: done.map(({ body }) => kindOf(body)), setAside: handled.length - done.length, failed };
  });
}

/** Sends a dead letter to its target. Returns an error message if that fails. */
async function sendAgain(
  { sqs, urls, publish }: RedriveTargets,
  { body }: ReceivedDeadLetter,
): Promise<string | undefined> {
  const kind = kindOf(body);
  if (kind === 'unreadable') return 'it is unreadable: this version knows no such message or change';
  if (kind === 'changes') return publish(JSON.parse(body));
  // A delivery goes to the first queue of deliveries. Its consumer sends it on by the current state of the webhook.
  const { slow, ...message } = JSON.parse(body);
  const again = { MessageBody: JSON.stringify(message), DelaySeconds: 0, MessageGroupId: messageGroupOf(message) };
  await sqs.send(new SendMessageCommand({ QueueUrl: urls[kind], ...again }));
  return undefined;
}

/** Returns the ids of the changes among the visible dead letters. */
function changesIn({ sqs, urls }: RedriveTargets): Promise<string[]> {
  const options = { visibilitySeconds: redriveVisibilitySeconds };
  return withReceivedMessages(sqs, urls.deadLetters, options, async (received) =>
    received.map(changeIdOf).filter((id) => id !== undefined),
  );
}

/** Returns the id of the change in a dead letter, if it contains one. */
function changeIdOf({ body }: ReceivedDeadLetter): string | undefined {
  return kindOf(body) === 'changes' ? JSON.parse(body).eventID : undefined;
}
