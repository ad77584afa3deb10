/** The table: its keys, its expiry attribute and the one sparse, keys-only index, which serves the sweeper alone. */
export const tableSchema = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Seconds since 1970, for DynamoDB's TTL: for cleaning, never for timing. */
  expiry: 'expiresAt',
  dueIndex: { name: 'due', partitionKey: 'due', sortKey: 'dueAt' },
} as const;
