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
