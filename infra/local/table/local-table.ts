import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { QuietChange } from '../../../lib/names/consumers.ts';
import { tableSchema } from '../../../lib/names/table-schema.ts';
import { openTable, type Table } from '../../../lib/table/access/client.ts';
import { createChanges, type LocalChanges } from './changes/changes.ts';
import {
  batchGetItems,
  batchWriteJob,
  getItemCommand,
  type Input,
  queryPage,
  type ReadUnits,
  singleJob,
  transactionJob,
} from './commands.ts';
import { Unsupported } from './errors.ts';
import { asException, exceptionOf, unknownTable } from './exceptions.ts';
import { backUp } from './file/backup.ts';
import { type Durability, prepareReader } from './file/database.ts';
import { openDatabaseFile, openMemoryDatabase } from './file/open-database.ts';
import { createReader } from './reader.ts';
import { nativeItem } from './values/native.ts';
import { createInlineCommitter, createThreadCommitter, createWriteQueue } from './writes/write-queue.ts';
import type { WriteJob, WriteUnits } from './writes/writer.ts';

/** The settings of a table in the process. */
export type LocalTableOptions = {
  /** The database file, or `:memory:`. */
  path: string;
  tableName: string;
  /** The kinds of items whose changes are recorded for `changes`. */
  kinds: readonly string[];
  /** The kinds of which only new items are recorded. */
  onlyNew?: readonly string[];
  /** The changes of such items that are not recorded. */
  quiet?: QuietChange;
  /** Whether a write waits for the disk; see `Durability`. */
  durability?: Durability;
  /**
   * Whether a thread of its own commits, so that the event loop does not wait for the disk. Without it, the event loop
   * waits: for commands that write little.
   */
  inThread?: boolean;
  /** Unix time, in ms. */
  clock?: () => number;
};

/** An open table in the process. */
export type LocalTable = {
  /** The table, as the stores use it. Its client has commands, outputs and exceptions of the SDK. */
  table: Table;
  /** The recorded changes that were not handled yet. */
  changes: LocalChanges;
  /** What the table has done, for measurements. */
  statistics: { commits: number; writes: number; changes: number };
  /** Deletes at most `limit` expired items, and returns how many; see `expiry.ts`. */
  deleteExpired: (limit: number) => Promise<number>;
  /** Copies the database to a file while the table is in use. */
  backup: (path: string) => Promise<void>;
  /** Resolves if the table cannot be written any more, because its thread has ended. */
  ended: Promise<void>;
  /** Commits all writes and closes the file. Later calls fail. */
  close: () => Promise<void>;
};

/**
 * Opens the table in the process: the commands of DynamoDB that stores send, on SQLite.
 *
 * Writes are answered after their commit, which is flushed to the disk first. Reads have their own connection in the main
 * thread. SQLite shows a commit to other connections by the header of the WAL index, and writes it after the flush of the
 * WAL (`sqlite3WalFrames`: `sqlite3OsSync`, then `walIndexWriteHdr`). So each read sees all answered writes, and none that a
 * power cut could still undo. Opening the file flushes what an earlier process has left in the WAL. With the durability
 * `normal`, nothing is flushed before the answer, and a power cut can undo the last answered writes, but not reorder them.
 *
 * @throws `Problem` for a file that cannot be used; see `open-database.ts`
 */
export function openLocalTable(options: LocalTableOptions): LocalTable {
  const { path, tableName, kinds, onlyNew, quiet, durability = 'full', clock = Date.now } = options;
  const inMemory = path === ':memory:';
  const inThread = !inMemory && (options.inThread ?? true);
  const main = inMemory ? openMemoryDatabase() : openDatabaseFile(path);
  if (inThread) prepareReader(main);
  const committer = inThread
    ? createThreadCommitter({ path, durability, kinds, onlyNew, quiet })
    : createInlineCommitter(main, durability, { kinds, onlyNew, quiet });
  const statistics = { commits: 0, writes: 0, changes: 0 };
  const listeners = new Set<() => void>();
  const queue = createWriteQueue(committer, clock, ({ jobs, changes }) => {
    statistics.commits += 1;
    statistics.writes += jobs;
    statistics.changes += changes;
    if (changes > 0) for (const listener of listeners) listener();
  });
  const reader = createReader(main);
  const table = openTable(tableName, 'http://127.0.0.1:1');

  const checkTable = ({ TableName }: Input) => {
    if (TableName !== tableName) throw unknownTable();
  };

  async function write(job: WriteJob, input: Input): Promise<object> {
    const result = await queue.write(job);
    if ('failure' in result) throw exceptionOf(result.failure);
    return {
      $metadata: {},
      ...(result.attributes && { Attributes: nativeItem(result.attributes) }),
      ...capacity(input, writeUnits(job, result.units)),
    };
  }

  /** Returns the consumed capacity in the form of the SDK, if the input wants it. */
  function capacity({ ReturnConsumedCapacity: wanted, ...input }: Input, units: ReadUnits | WriteUnits): object {
    if (wanted === undefined || wanted === 'NONE') return {};
    const CapacityUnits = units.table + units.index;
    const used = {
      TableName: tableName,
      CapacityUnits,
      ...(wanted === 'INDEXES' && {
        Table: { CapacityUnits: units.table },
        ...(units.index > 0 && {
          GlobalSecondaryIndexes: { [tableSchema.dueIndex.name]: { CapacityUnits: units.index } },
        }),
      }),
    };
    return { ConsumedCapacity: 'TransactItems' in input || 'RequestItems' in input ? [used] : used };
  }

  const read = (input: Input, { output, units }: { output: object; units: ReadUnits }) => ({
    $metadata: {},
    ...output,
    ...capacity(input, units),
  });

  async function carryOut(command: { input: object; constructor: unknown }): Promise<object> {
    const input = command.input as Input;
    switch (command.constructor) {
      case GetCommand:
        checkTable(input);
        return read(input, getItemCommand(reader, input));
      case QueryCommand:
        checkTable(input);
        return read(input, queryPage(reader, 'Query', input));
      case ScanCommand:
        checkTable(input);
        return read(input, queryPage(reader, 'Scan', input));
      case BatchGetCommand:
        return read(input, batchGetItems(reader, input, tableName));
      case PutCommand:
        checkTable(input);
        return write(singleJob('PutItem', input), input);
      case UpdateCommand:
        checkTable(input);
        return write(singleJob('UpdateItem', input), input);
      case DeleteCommand:
        checkTable(input);
        return write(singleJob('DeleteItem', input), input);
      case TransactWriteCommand:
        return write(transactionJob(input, checkTable), input);
      case BatchWriteCommand:
        return { UnprocessedItems: {}, ...(await write(batchWriteJob(input, tableName), input)) };
    }
    throw new Unsupported((command.constructor as { name: string }).name);
  }

  const send = async (command: { input: object }) => {
    try {
      return await carryOut(command);
    } catch (error) {
      throw asException(error);
    }
  };
  // The SDK's paginators accept instances of its own client only, so the client stays and its `send` is replaced.
  table.client.send = send as typeof table.client.send;

  return {
    table,
    statistics,
    changes: createChanges(main, queue.forgetChanges, listeners),
    ended: queue.ended,
    deleteExpired: async (limit) => {
      const result = await queue.write({ is: 'expiry', before: clock() / 1000, limit });
      return 'count' in result ? (result.count ?? 0) : 0;
    },
    backup: async (to) => {
      if (inMemory) throw new Unsupported('the backup of a table in memory');
      await backUp(path, to);
    },
    close: async () => {
      await queue.close();
      if (main.isOpen) main.close();
    },
  };
}

/** Returns the units of a job. Writes of transactions cost twice; AWS does not say whether writes of the index do, too. */
function writeUnits(job: WriteJob, { table, index }: WriteUnits): WriteUnits {
  return { table: job.is === 'transaction' ? 2 * table : table, index };
}
