import { DeleteMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';

/** SQS deletes no more messages at once. */
const batchLimit = 10;

/** How long a message that was handled may wait for others, in milliseconds: far less than it stays hidden. */
const waitMs = 200;

/** Deletes messages of a queue that were handled, several in one request where several are. */
export function openDeletions(client: SQSClient, url: string) {
  let handles: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const underWay = new Set<Promise<unknown>>();

  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    const Entries = handles.map((ReceiptHandle, at) => ({ Id: String(at), ReceiptHandle }));
    handles = [];
    // What is not deleted comes again, and there is nothing left to do for it then.
    const request = client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries })).catch(() => {});
    underWay.add(request);
    void request.finally(() => underWay.delete(request));
  }

  return {
    add(handle: string): void {
      handles.push(handle);
      if (handles.length === batchLimit) send();
      else timer ??= setTimeout(send, waitMs);
    },

    /** Deletes what still waits, and ends when all is deleted. */
    async finish(): Promise<void> {
      if (handles.length > 0) send();
      await Promise.all(underWay);
    },
  };
}
