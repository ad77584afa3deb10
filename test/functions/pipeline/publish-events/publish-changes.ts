import { expect } from 'vitest';
import type { Service } from '../../../service.ts';
import { publish } from '../call-functions.ts';

/** Returns a function that publishes the changes of a table since its last call, as its stream does. */
export function createPublisher({ changes }: Pick<Service, 'changes'>): () => Promise<void> {
  let position: string | undefined;
  return async () => {
    const records = await changes.after(position, 10_000);
    position = records.at(-1)?.dynamodb?.SequenceNumber ?? position;
    expect(await publish(...records)).toEqual([]);
  };
}
