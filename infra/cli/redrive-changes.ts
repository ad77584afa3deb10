import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { finish, type Held, hold, release } from './held-messages.ts';

/** Long enough for thousands of changes; one that this process leaves behind is back in the queue after it. */
const heldSeconds = 60 * 60;

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
 *
 * @param functionName of `publishEvents`
 */
export async function redriveChanges(
  { sqs, lambda }: { sqs: SQSClient; lambda: LambdaClient },
  url: string,
  functionName: string,
): Promise<Redriven> {
  // All of them first: what is set aside again meanwhile must not be taken for one that waits.
  const left = await hold(sqs, url, { heldSeconds });
  const handled = new Set<string | undefined>();
  const failed: string[] = [];
  const back: Held[] = [];
  try {
    for (let held = left[0]; held; held = left[0]) {
      const fault = await handle(lambda, functionName, held);
      left.shift();
      if (fault === undefined) {
        await finish(sqs, url, held);
        handled.add(changeIn(held)?.eventID);
      } else {
        back.push(held);
        failed.push(`${held.id}: ${fault}`);
      }
    }
  } finally {
    await release(sqs, url, [...back, ...left]);
  }
  const again = await hold(sqs, url, { heldSeconds });
  await release(sqs, url, again);
  const setAside = again.filter((held) => handled.has(changeIn(held)?.eventID)).length;
  return { done: handled.size - setAside, setAside, failed };
}

/** Calls the function with one change; answers what it failed for, if it did. */
async function handle(lambda: LambdaClient, FunctionName: string, held: Held): Promise<string | undefined> {
  const change = changeIn(held);
  if (!change) return 'it is no change of the table';
  const Payload = JSON.stringify({ Records: [change] });
  const { FunctionError, Payload: answer } = await lambda.send(new InvokeCommand({ FunctionName, Payload }));
  const text = Buffer.from(answer ?? []).toString('utf8');
  if (FunctionError) return text;
  const { batchItemFailures } = JSON.parse(text) as { batchItemFailures: unknown[] };
  return batchItemFailures.length > 0 ? `npm run trace -- ${change.eventID} tells why` : undefined;
}

/** The stream's record that a message holds. */
function changeIn({ body }: Held): { eventID: string } | undefined {
  try {
    const record = JSON.parse(body) as { eventID: string } | null;
    return typeof record?.eventID === 'string' ? record : undefined;
  } catch {
    return undefined;
  }
}
