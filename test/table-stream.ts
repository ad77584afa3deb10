import type { DynamoDBRecord } from 'aws-lambda';
import type { Service } from './service.ts';

/** Returns the records of a kind in the table's stream. */
export async function streamed({ changes }: Pick<Service, 'changes'>, kind: string): Promise<DynamoDBRecord[]> {
  return (await changes.after(undefined, 10_000)).filter(({ dynamodb }) => dynamodb?.NewImage?.kind?.S === kind);
}
