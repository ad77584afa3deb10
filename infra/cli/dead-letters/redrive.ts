import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { messageGroupOf } from '../../../lib/sqs/queue.ts';
import type { Tell } from '../progress.ts';
import { type Kind, kindOf } from './dead-letter-kinds.ts';
import type { DeadLetters } from './publisher.ts';
import { type Held, withHeld } from './received-messages.ts';

/** Long enough for thousands of letters; one that this process leaves behind can be received again after it. */
export const heldSeconds = 60 * 60;

/** What became of dead letters that were to be handled once more. */
export type Redriven = {
  /** What each was that has left: its message is in its queue, or its change is published. */
  done: Kind[];
  /** How many changes were handled as hopeless again: each is among the dead letters anew, set aside by the publisher. */
  setAside: number;
  /** Of each that is where it was: its id, and why. */
  failed: string[];
};

/**
 * Has dead letters of some kinds handled once more: messages are sent to their queue, changes handed to the publisher.
 * Each is deleted after that and not before. Should this process end in between it is in both places, which does no
 * harm: the table decides what there is to do.
 */
export async function redrive(letters: DeadLetters, wanted: readonly Kind[], tell: Tell): Promise<Redriven> {
  const { sqs, urls } = letters;
  // All of them first: what is set aside again meanwhile must not be taken for one that waits.
  return withHeld(sqs, urls.deadLetters, { heldSeconds, tell }, async (held, finish) => {
    const all = held.filter(({ body }) => wanted.includes(kindOf(body)));
    const handled: Held[] = [];
    const failed: string[] = [];
    for (const letter of all) {
      const fault = await handOn(letters, letter);
      if (fault === undefined) {
        await finish(letter);
        handled.push(letter);
      } else failed.push(`${letter.id}: ${fault}`);
      tell(`${handled.length + failed.length} of ${all.length} dead letters redriven`);
    }
    const again = new Set(await changesIn(letters));
    const done = handled.filter((letter) => !again.has(changeIdOf(letter) ?? ''));
    return { done: done.map(({ body }) => kindOf(body)), setAside: handled.length - done.length, failed };
  });
}

/** Answers what it failed for, if it did. */
async function handOn({ sqs, urls, publish }: DeadLetters, { body }: Held): Promise<string | undefined> {
  const kind = kindOf(body);
  if (kind === 'unreadable') return 'it is unreadable: no message and no change that this version knows';
  if (kind === 'changes') return publish(JSON.parse(body));
  // A delivery goes to its first queue, whichever it comes from: from there it is sent on as its webhook and its time are now.
  const { slow: _, ...message } = JSON.parse(body);
  const again = { MessageBody: JSON.stringify(message), MessageGroupId: messageGroupOf(message) };
  await sqs.send(new SendMessageCommand({ QueueUrl: urls[kind], ...again }));
  return undefined;
}

/** The ids of the changes that can be received right now. */
function changesIn({ sqs, urls }: DeadLetters): Promise<string[]> {
  return withHeld(sqs, urls.deadLetters, { heldSeconds }, async (held) =>
    held.map(changeIdOf).filter((id) => id !== undefined),
  );
}

/** The id of a change that a letter holds, if it holds one. */
function changeIdOf({ body }: Held): string | undefined {
  return kindOf(body) === 'changes' ? JSON.parse(body).eventID : undefined;
}
