/**
 * What every deployment gives the functions: the stack in AWS and the local one read the same lists.
 */

/** The names of the environment variables that functions read; no other file spells them. */
export const environment = {
  /** The DynamoDB table. */
  tableName: 'TABLE_NAME',
  /** Locally, or for DynamoDB Local: where the table's engine answers. Unset in AWS. */
  dynamodbEndpoint: 'DYNAMODB_ENDPOINT',
  /** Where SQS answers locally. Unset in AWS. */
  sqsEndpoint: 'SQS_ENDPOINT',
  /** The queue of deliveries that wait for their attempt. */
  deliveriesQueueUrl: 'DELIVERIES_QUEUE_URL',
  /** The file of the key that encrypts webhook secrets, in the local deployment. */
  secretsKeyFile: 'SECRETS_KEY_FILE',
  /** Receivers beside public https ones, as `host:port` patterns parted by commas; `*` is any port. */
  allowedReceivers: 'ALLOWED_RECEIVERS',
} as const;

/** The table: its keys, its expiry attribute and the one sparse, keys-only index, which serves the sweeper alone. */
export const tableSchema = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Seconds since 1970, for DynamoDB's TTL: for cleaning, never for timing. */
  expiry: 'expiresAt',
  dueIndex: { name: 'due', partitionKey: 'due', sortKey: 'dueAt' },
} as const;

/** The queues. `visibilitySeconds` is how long a received message stays hidden: six times what its
 * function may take, as AWS advises for a queue that Lambda polls. */
export const queues = {
  deliveries: { urlVariable: environment.deliveriesQueueUrl, visibilitySeconds: 180 },
} as const;

/** A queue's name in the contract. */
export type QueueName = keyof typeof queues;

/**
 * What an AWS client is opened with: the endpoint of a local engine, which looks at neither region nor credentials;
 * without one nothing, and the SDK asks its environment, as in Lambda.
 */
export function clientConfig(endpoint: string | undefined) {
  if (!endpoint) return {};
  return { endpoint, region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
}
