/**
 * The table: its keys, its expiry attribute and its only index, which is sparse and keys-only. Only the sweeper uses
 * it.
 */
export const tableSchema = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** The expiry for DynamoDB's TTL, as Unix time in seconds. TTL deletes late, so no behaviour depends on its time. */
  expiry: 'expiresAt',
  dueIndex: { name: 'due', partitionKey: 'due', sortKey: 'dueAt' },
} as const;
