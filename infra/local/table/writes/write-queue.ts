import { once } from 'node:events';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { type Durability, prepareWriter } from '../file/database.ts';
import type { WriteThreadAnswer, WriteThreadData } from './write-thread.ts';
import {
  type Batch,
  type BatchResult,
  CommitFailed,
  createWriter,
  type JobResult,
  type RecordedKinds,
  type WriteJob,
} from './writer.ts';

/**
 * The writes of a process. All jobs that are queued in one turn of the event loop, and jobs that are queued while a
 * commit runs, are committed together: one wait for the disk for all.
 */
export type WriteQueue = {
  /**
   * Queues a job. Resolves when it is committed.
   *
   * @throws `CommitFailed` if its batch is not committed; `TableClosed` after `close`; `WriterEnded` if the thread ends
   */
  write: (job: WriteJob) => Promise<JobResult>;
  /** Deletes the recorded changes up to a number with the next commit, at the latest after `forgetWithinMs`. */
  forgetChanges: (upTo: number) => void;
  /** Commits what is queued and closes the connection. */
  close: () => Promise<void>;
  /** Resolves when the thread has ended without `close`. The table cannot be written any more. */
  ended: Promise<void>;
};

/** The table was closed before the call. */
class TableClosed extends Error {
  override name = 'TableClosed';
}

/** The thread that writes has ended. It is not known whether the batch was committed. */
export class WriterEnded extends Error {
  override name = 'WriterEnded';
}

/** Commits batches, one at a time. */
type Committer = {
  commit: (batch: Batch) => Promise<BatchResult>;
  close: () => Promise<void>;
  ended: Promise<void>;
};

type Queued = { job: WriteJob; resolve: (result: JobResult) => void; reject: (error: unknown) => void };

/** How long the deletion of handled changes waits for a write with which it is committed. */
const forgetWithinMs = 1_000;

/** The most jobs of a commit, so that none waits for a very long one. */
const mostJobs = 500;

/**
 * Creates the queue of a committer.
 *
 * @param clock Unix time, in ms
 * @param onCommit receives the number of jobs and of recorded changes of each commit, before its jobs resolve
 */
export function createWriteQueue(
  committer: Committer,
  clock: () => number,
  onCommit: (commit: { jobs: number; changes: number }) => void,
): WriteQueue {
  let queued: Queued[] = [];
  let handledUpTo = 0;
  let isPlanned = false;
  let committing: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  let forgetting: NodeJS.Timeout | undefined;

  function plan(): void {
    if (isPlanned || committing) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      start();
    });
  }

  /** Starts the next commit, if there is something to commit and none runs. */
  function start(): void {
    if (committing || (queued.length === 0 && handledUpTo === 0)) return;
    const jobs = queued.slice(0, mostJobs);
    queued = queued.slice(mostJobs);
    const batch = { jobs: jobs.map(({ job }) => job), now: clock(), handledUpTo };
    handledUpTo = 0;
    clearTimeout(forgetting);
    forgetting = undefined;
    committing = committer
      .commit(batch)
      .then(
        ({ results, changes }) => {
          onCommit({ jobs: jobs.length, changes });
          for (const [at, { resolve }] of jobs.entries()) resolve(results[at] as JobResult);
        },
        (error) => {
          // The changes are still there.
          handledUpTo = Math.max(handledUpTo, batch.handledUpTo);
          for (const { reject } of jobs) reject(error);
        },
      )
      .finally(() => {
        committing = undefined;
        if (queued.length > 0) plan();
      });
  }

  /** Commits all that is queued, and ends. */
  async function end(): Promise<void> {
    await committing;
    do {
      start();
      await committing;
    } while (queued.length > 0);
    clearTimeout(forgetting);
    await committer.close();
  }

  return {
    ended: committer.ended,
    write: (job) => {
      if (closing) return Promise.reject(new TableClosed('The table is closed.'));
      return new Promise((resolve, reject) => {
        queued.push({ job, resolve, reject });
        plan();
      });
    },
    forgetChanges: (upTo) => {
      handledUpTo = Math.max(handledUpTo, upTo);
      forgetting ??= setTimeout(start, forgetWithinMs).unref();
    },
    close: () => {
      closing ??= end();
      return closing;
    },
  };
}

/** Creates a committer in a thread of its own, on its own connection. */
export function createThreadCommitter(data: WriteThreadData): Committer {
  const worker = new Worker(new URL('./write-thread.ts', import.meta.url), { workerData: data, name: 'table' });
  let current: { resolve: (result: BatchResult) => void; reject: (error: unknown) => void } | undefined;
  let isClosing = false;
  let failure: Error | undefined;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  // The process may end while nothing is written.
  worker.unref();
  worker.on('message', (answer: WriteThreadAnswer) => {
    const done = current;
    current = undefined;
    worker.unref();
    if ('result' in answer) done?.resolve(answer.result);
    else done?.reject(new CommitFailed(answer.failed));
  });
  worker.on('error', (error) => {
    failure = error as Error;
  });
  worker.on('exit', () => {
    failure = new WriterEnded('The thread that writes to the table has ended.', { cause: failure });
    current?.reject(failure);
    if (!isClosing) end();
  });
  return {
    ended,
    commit: (batch) =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure);
        current = { resolve, reject };
        worker.ref();
        worker.postMessage(batch);
      }),
    close: async () => {
      isClosing = true;
      if (failure) return;
      const exited = once(worker, 'exit');
      worker.ref();
      worker.postMessage(null);
      await exited;
    },
  };
}

/** Creates a committer in this thread, for a database in memory and for commands that write little. */
export function createInlineCommitter(
  database: DatabaseSync,
  durability: Durability,
  recorded: RecordedKinds,
): Committer {
  prepareWriter(database, durability);
  const writer = createWriter(database, recorded);
  return {
    ended: new Promise(() => {}),
    commit: async (batch) => writer.commit(batch),
    close: async () => database.close(),
  };
}
