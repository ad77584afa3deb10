/**
 * What every deployment gives the functions: the stack in AWS and the local one read the same lists.
 */

/** The names of the environment variables that functions read; no other file spells them. */
export const environment = {
  /** The name of the stack, by which its metrics are told apart; Powertools reads it too. Unset on one machine. */
  serviceName: 'POWERTOOLS_SERVICE_NAME',
  /** The DynamoDB table. */
  tableName: 'TABLE_NAME',
  /** Locally, or for DynamoDB Local: where the table's engine answers. Unset in AWS. */
  dynamodbEndpoint: 'DYNAMODB_ENDPOINT',
  /** Where SQS answers locally. Unset in AWS. */
  sqsEndpoint: 'SQS_ENDPOINT',
  /** Where the queues are, see `queues`. */
  deliveriesQueueUrl: 'DELIVERIES_QUEUE_URL',
  slowDeliveriesQueueUrl: 'SLOW_DELIVERIES_QUEUE_URL',
  firstRetryQueueUrl: 'FIRST_RETRY_QUEUE_URL',
  secondRetryQueueUrl: 'SECOND_RETRY_QUEUE_URL',
  thirdRetryQueueUrl: 'THIRD_RETRY_QUEUE_URL',
  executionsQueueUrl: 'EXECUTIONS_QUEUE_URL',
  purgesQueueUrl: 'PURGES_QUEUE_URL',
  deadLettersQueueUrl: 'DEAD_LETTERS_QUEUE_URL',
  /** How long after each failed attempt the next one is made: three whole numbers of seconds, parted by commas. */
  retryLadder: 'RETRY_LADDER',
  /** How many attempts of one webhook may run at the same time in one container. */
  promptAttempts: 'PROMPT_ATTEMPTS',
  /** How many attempts of one slow webhook may run at the same time in all containers together. */
  slowAttempts: 'SLOW_ATTEMPTS',
  /** The file of the key that encrypts webhook secrets, in the local deployment. */
  secretsKeyFile: 'SECRETS_KEY_FILE',
  /** The ARN of the KMS key that encrypts them, in AWS. */
  secretsKeyId: 'SECRETS_KEY_ID',
  /** How many executions of an organization may run at once. */
  runningCap: 'RUNNING_CAP',
  /** How many minutes an execution may wait for its first worker. */
  waitingLimit: 'WAITING_LIMIT_MINUTES',
  /** How many requests an organization may make in a minute, and how many executions it may start; unset: any number. */
  requestsPerMinute: 'REQUESTS_PER_MINUTE',
  executionsPerMinute: 'EXECUTIONS_PER_MINUTE',
  /** The model of agents that name none, as Bedrock knows it. */
  defaultModel: 'DEFAULT_MODEL',
  /** The models that agents may name, separated by commas; every model where it is unset. */
  allowedModels: 'ALLOWED_MODELS',
  /** The region of Bedrock where models are asked, if not the function's own. */
  modelRegion: 'MODEL_REGION',
  /** Where Bedrock's Converse answers, if not in a region of AWS: in tests. */
  modelEndpoint: 'MODEL_ENDPOINT',
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

/** A queue: the variable that holds its URL, and how long a received message stays hidden from other receivers. */
type QueueRow = { urlVariable: string; visibilitySeconds: number };

/** Six times what their function may take, as AWS advises for a queue that Lambda polls. */
const delivering = { visibilitySeconds: 180 };

/** The queues (design §5). */
export const queues = {
  /** First attempts. */
  deliveries: { urlVariable: environment.deliveriesQueueUrl, ...delivering },
  /** Attempts for webhooks whose receiver holds workers up, so that they hold up only each other. */
  slowDeliveries: { urlVariable: environment.slowDeliveriesQueueUrl, ...delivering },
  /** The steps of the retry ladder: what waits in one waits about equally long. */
  firstRetry: { urlVariable: environment.firstRetryQueueUrl, ...delivering },
  secondRetry: { urlVariable: environment.secondRetryQueueUrl, ...delivering },
  thirdRetry: { urlVariable: environment.thirdRetryQueueUrl, ...delivering },
  /** Executions to carry out. What a worker that died leaves behind the sweeper finds, long before it is visible again. */
  executions: { urlVariable: environment.executionsQueueUrl, visibilitySeconds: 3960 },
  /** Agents that were deleted, and of which something is left. */
  purges: { urlVariable: environment.purgesQueueUrl, visibilitySeconds: 1800 },
  /**
   * What was given up for a fault of ours: messages of all the others, and changes of the table that can never be
   * published, with keys and images. Nobody is called for them, they wait for an operator.
   */
  deadLetters: { urlVariable: environment.deadLettersQueueUrl, visibilitySeconds: 30 },
} as const satisfies Record<string, QueueRow>;

/** A message that was received so often fails for a fault of ours: it goes to the dead letters to be looked at. */
export const maxReceiveCount = 5;

/** A queue's name in the contract. */
export type QueueName = keyof typeof queues;

/** A queue that calls a function: its messages that fail too often are sent to the dead letters. */
export type WorkQueue = Exclude<QueueName, 'deadLetters'>;

/** The queues that call a function. */
export const workQueues = (Object.keys(queues) as QueueName[]).filter(
  (name): name is WorkQueue => name !== 'deadLetters',
);

/**
 * The log of an AWS client. The SDK prepares a whole copy of each request and answer, without what is sensitive, for
 * a log that drops it, unless the log has no `info` at all.
 */
const quiet = { debug: () => {}, warn: () => {}, error: () => {} } as unknown as Logger;
type Logger = Record<'debug' | 'info' | 'warn' | 'error', () => void>;

/**
 * What an AWS client is opened with: the endpoint of a local engine, which looks at neither region nor credentials;
 * without one the SDK asks its environment, as in Lambda. Clients of SQS and of streams are told to keep their
 * middleware (`cacheMiddleware`) beside it; DynamoDB's document client must not be, for what it keeps of a command has the
 * first one's input in it.
 */
export function clientConfig(endpoint: string | undefined) {
  if (!endpoint) return { logger: quiet };
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return { endpoint, region: 'local', credentials, signer: unsigned, logger: quiet };
}

/** The headers of a request that is not signed, for engines on this machine. */
export const unsignedHeaders = {
  'x-amz-date': '20000101T000000Z',
  authorization:
    'AWS4-HMAC-SHA256 Credential=local/20000101/local/local/aws4_request, SignedHeaders=host, Signature=none',
};

/** Signs for engines that read whose a request is, and look at no signature: to make one is a tenth of a request's work. */
const unsigned = {
  sign: async <Request extends { headers: Record<string, string> }>(request: Request): Promise<Request> => {
    Object.assign(request.headers, unsignedHeaders);
    return request;
  },
};
