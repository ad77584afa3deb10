/** The names of the environment variables of functions; no other file spells them. */
export const environment = {
  /** The name of the stack, which identifies its metrics; Powertools reads it too. Unset in the local deployment. */
  serviceName: 'POWERTOOLS_SERVICE_NAME',
  /** The name of the DynamoDB table. */
  tableName: 'TABLE_NAME',
  /** The endpoint of DynamoDB in the local deployment, or of DynamoDB Local. Unset in AWS. */
  dynamodbEndpoint: 'DYNAMODB_ENDPOINT',
  /** The endpoint of an emulator of SQS, in tests. Unset in AWS; the queues of the local deployment are in its memory. */
  sqsEndpoint: 'SQS_ENDPOINT',
  /** The URLs of the queues; see `queues`. */
  deliveriesQueueUrl: 'DELIVERIES_QUEUE_URL',
  slowDeliveriesQueueUrl: 'SLOW_DELIVERIES_QUEUE_URL',
  firstRetryQueueUrl: 'FIRST_RETRY_QUEUE_URL',
  secondRetryQueueUrl: 'SECOND_RETRY_QUEUE_URL',
  thirdRetryQueueUrl: 'THIRD_RETRY_QUEUE_URL',
  executionsQueueUrl: 'EXECUTIONS_QUEUE_URL',
  deadLettersQueueUrl: 'DEAD_LETTERS_QUEUE_URL',
  /**
   * The retry schedule: the seconds from each failed attempt to the next, as three whole numbers separated by commas.
   */
  retryLadder: 'RETRY_LADDER',
  /** The number of days in which all deliveries to a webhook must fail before it is paused. */
  failingDays: 'FAILING_DAYS',
  /** The maximum number of concurrent attempts of one webhook in one container, while the webhook is not slow. */
  normalAttempts: 'PROMPT_ATTEMPTS',
  /** The maximum number of concurrent attempts of one slow webhook in all containers. */
  slowAttempts: 'SLOW_ATTEMPTS',
  /** How many days the bodies of attempts and their responses are kept. */
  responseDays: 'RESPONSE_DAYS',
  /** The file with the key that encrypts webhook secrets, in the local deployment. */
  secretsKeyFile: 'SECRETS_KEY_FILE',
  /** The ARN of the KMS key that encrypts webhook secrets, in AWS. */
  secretsKeyId: 'SECRETS_KEY_ID',
  /** The maximum number of concurrent executions of an organization. */
  runningCap: 'RUNNING_CAP',
  /** The maximum number of minutes that an execution waits for its first worker. */
  waitingLimit: 'WAITING_LIMIT_MINUTES',
  /** The limits of one execution: its steps, the tokens of its steps, and its duration in minutes. */
  executionSteps: 'EXECUTION_STEPS',
  executionTokens: 'EXECUTION_TOKENS',
  executionMinutes: 'EXECUTION_MINUTES',
  /** The limits of requests and of started executions per minute for an organization. Unset: no limit. */
  requestsPerMinute: 'REQUESTS_PER_MINUTE',
  executionsPerMinute: 'EXECUTIONS_PER_MINUTE',
  /** The limit of requests of an organization per minute that call receivers or models. Unset: no limit. */
  callsOutPerMinute: 'CALLS_OUT_PER_MINUTE',
  /** The budget of tokens that the executions of an organization use in a UTC day. Unset: no budget. */
  dailyTokens: 'DAILY_TOKENS',
  /** The Bedrock id of the default model. */
  defaultModel: 'DEFAULT_MODEL',
  /** The allowed models, separated by commas. Unset: all models. */
  allowedModels: 'ALLOWED_MODELS',
  /** The AWS Region for Bedrock, if not the Region of the function. */
  modelRegion: 'MODEL_REGION',
  /** The endpoint of Bedrock, if not the endpoint of a Region: in tests. */
  modelEndpoint: 'MODEL_ENDPOINT',
  /** The origins of web pages that may call the API, separated by commas. Unset: none. */
  corsOrigins: 'CORS_ORIGINS',
  /** Additional allowed receivers, as `host:port` patterns separated by commas; `*` matches any port. */
  allowedReceivers: 'ALLOWED_RECEIVERS',
} as const;
