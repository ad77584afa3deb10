import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { contextOf, type Handler } from '../../functions.ts';
import { type Stop, type Wait, waited } from '../../queues/queue-poller.ts';
import { type HandledBatch, type RecordBatch, removeFinished, runForBatches } from '../../queues/record-batches.ts';
import type { Changes } from './changes.ts';

/** An event source mapping of the table's changes: the changes, the handler, the settings of the consumer. */
export type ChangeMapping = {
  name: string;
  changes: Changes;
  handler: Handler;
  batchSize: number;
  timeoutSeconds: number;
};

/** How often the reader looks for first attempts that have finished since the last change. */
const forgetEveryMs = 1_000;

/** The name of the only shard, for `record-batches.ts`. */
const shard = 'table';

/**
 * Does the work of Lambda's event source mapping for the table's stream, which records only the changes of the kinds that
 * the handler wants. Gives them to the handler in order, at once after their commit. It retries a failed change and those
 * after it, with increasing delays. Handled changes are deleted; those whose first attempts are not finished stay, so that
 * the next start handles them again (`record-batches.ts`).
 *
 * @param waitFor waits after an error
 * @returns a function that stops reading, after the current call has ended
 */
export function readChanges(mapping: ChangeMapping, waitFor: Wait = waited): Stop {
  const { changes, batchSize } = mapping;
  const stopping = new AbortController();
  let handled: HandledBatch[] = [];
  let position: string | undefined;
  let batchNumber = 0;
  let wake = () => {};
  const stopListening = changes.onRecorded(() => wake());
  const timer = setInterval(forgetFinished, forgetEveryMs).unref();
  const reader = read();
  return async () => {
    stopping.abort();
    stopListening();
    clearInterval(timer);
    wake();
    await reader;
    forgetFinished();
  };

  async function read(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        const records = await changes.after(position, batchSize);
        if (records.length === 0) {
          await nextChange();
          continue;
        }
        failures = (await handle(records)) ? 0 : failures + 1;
      } catch (error) {
        failures += 1;
        // The handler has logged its own error.
        if (!stopping.signal.aborted) console.error(`${mapping.name} cannot read the changes of the table:`, error);
      }
      if (failures > 0) await waitFor(Math.min(10_000, 100 * 2 ** failures), stopping.signal);
    }
  }

  /** Waits until a change is recorded. None is missed if this is called in the same turn as the last read. */
  function nextChange(): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve;
    });
  }

  /** Handles records up to the first failed one. Returns whether all were handled. */
  async function handle(records: DynamoDBRecord[]): Promise<boolean> {
    const batch: RecordBatch = { shard, number: batchNumber++, messages: 0 };
    const failed = await runForBatches([batch], () => callHandler(records));
    const firstFailed = records.findIndex((record) => failed.has(numberOf(record)));
    const last = (firstFailed < 0 ? records : records.slice(0, firstFailed)).at(-1);
    if (last) {
      position = numberOf(last);
      handled.push({ batch, position });
    }
    forgetFinished();
    return firstFailed < 0;
  }

  /** Gives records to the handler. Returns the sequence numbers of the records that failed. */
  async function callHandler(Records: DynamoDBRecord[]): Promise<Set<string>> {
    const event: DynamoDBStreamEvent = { Records };
    const context = contextOf(mapping.name, mapping.timeoutSeconds);
    const { batchItemFailures } = (await mapping.handler(event, context)) as DynamoDBBatchResponse;
    return new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  }

  /** Deletes the records up to which all first attempts are finished. */
  function forgetFinished(): void {
    const { open, done } = removeFinished(handled);
    handled = open;
    if (done !== undefined) changes.forget(done);
  }
}

const numberOf = ({ dynamodb }: DynamoDBRecord) => dynamodb?.SequenceNumber as string;
