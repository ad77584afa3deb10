import type { DatabaseSync } from 'node:sqlite';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { tableSchema } from '../../../../lib/names/table-schema.ts';
import { decodeItem } from '../values/encoding.ts';
import { marshalledItem } from '../values/native.ts';

/** The recorded changes of items, in their order: the part of the table's stream that was not handled yet. */
export type Changes = {
  /**
   * Returns the records after a position, in their order, in the form of the stream of DynamoDB.
   *
   * @param position a sequence number; `undefined` for the beginning
   */
  after: (position: string | undefined, limit: number) => DynamoDBRecord[] | Promise<DynamoDBRecord[]>;
  /**
   * Deletes the records up to a position, with the next commit or after a second. If the process is killed before, the next
   * one reads them again.
   */
  forget: (upTo: string) => void;
  /** Calls a function whenever there may be new records. Returns a function that ends that. */
  onRecorded: (listener: () => void) => () => void;
};

/** The recorded changes of the table in this process. They are read at once. */
export type LocalChanges = Omit<Changes, 'after'> & {
  after: (position: string | undefined, limit: number) => DynamoDBRecord[];
};

type Columns = [number, number, string, string, string | null, number, string | null, number];

/** Creates the access to the recorded changes of a database. */
export function createChanges(
  database: DatabaseSync,
  forget: (upTo: number) => void,
  listeners: Set<() => void>,
): LocalChanges {
  // A plain parameter as the limit would be part of the plan: SQLite would parse the statement again at each execution.
  const select = database.prepare(
    'SELECT number, at, pk, sk, old, oldCoded, new, newCoded FROM changes WHERE number > ? ORDER BY number LIMIT +?',
  );
  select.setReturnArrays(true);
  return {
    after: (position = '0', limit) => (select.all(Number(position), limit) as unknown as Columns[]).map(recordOf),
    forget: (upTo) => forget(Number(upTo)),
    onRecorded: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function recordOf([number, at, pk, sk, old, oldCoded, text, newCoded]: Columns): DynamoDBRecord {
  const image = (stored: string, coded: number) =>
    marshalledItem(decodeItem({ text: stored, coded: coded === 1 })) as Record<string, AttributeValue>;
  return {
    eventID: String(number),
    eventName: old === null ? 'INSERT' : text === null ? 'REMOVE' : 'MODIFY',
    eventSource: 'aws:dynamodb',
    dynamodb: {
      ApproximateCreationDateTime: Math.floor(at / 1000),
      Keys: { [tableSchema.partitionKey]: { S: pk }, [tableSchema.sortKey]: { S: sk } },
      ...(old !== null && { OldImage: image(old, oldCoded) }),
      ...(text !== null && { NewImage: image(text, newCoded) }),
      SequenceNumber: String(number),
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    },
  };
}
