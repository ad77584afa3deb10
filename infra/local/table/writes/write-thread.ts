import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { type Durability, prepareWriter } from '../file/database.ts';
import {
  type Batch,
  type BatchResult,
  CommitFailed,
  type CommitFailure,
  createWriter,
  type RecordedKinds,
} from './writer.ts';

/** What the main thread starts the thread with. */
export type WriteThreadData = RecordedKinds & { path: string; durability: Durability };

/** What the thread sends for a batch. */
export type WriteThreadAnswer = { result: BatchResult } | { failed: CommitFailure };

/** How long a write waits for a backup or a check of the file, which hold a lock for a moment only. */
const busyMs = 5_000;

/*
 * The thread that writes: a commit waits for the disk, and the event loop of the service must not. It is a host of the
 * writer without decisions of its own. `null` ends it.
 */
const { path, durability, ...recorded } = workerData as WriteThreadData;
const database = new DatabaseSync(path, { timeout: busyMs });
prepareWriter(database, durability);
const writer = createWriter(database, recorded);

parentPort?.on('message', (batch: Batch | null) => {
  if (batch === null) {
    database.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(answerTo(batch));
});

function answerTo(batch: Batch): WriteThreadAnswer {
  try {
    return { result: writer.commit(batch) };
  } catch (error) {
    if (!(error instanceof CommitFailed)) throw error;
    const { message, isRolledBack, code } = error;
    return { failed: { message, isRolledBack, code } };
  }
}
