/** The clients that functions have, and what of the house meets their errors: for a test to bundle as functions are. */
export { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
export { DecryptCommand, KMSClient } from '@aws-sdk/client-kms';
export { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
export { GetCommand } from '@aws-sdk/lib-dynamodb';
export { openKms } from '../../lib/kms/sealing.ts';
export { openBedrock } from '../../lib/model/bedrock.ts';
export { openQueue } from '../../lib/sqs/queue.ts';
export { openTable } from '../../lib/table/client.ts';
export { isThrottling, transact } from '../../lib/table/transact.ts';
