import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient, DescribeLogGroupsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { IAMClient, ListRolesCommand } from '@aws-sdk/client-iam';
import { DescribeKeyCommand, KMSClient, ListKeysCommand } from '@aws-sdk/client-kms';
import { LambdaClient, ListEventSourceMappingsCommand, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';

/** Returns the resources in the account by kind, without the resources of the bootstrap. */
export async function leftovers() {
  const { Stacks = [] } = await new CloudFormationClient({}).send(new DescribeStacksCommand({}));
  const { Roles = [] } = await new IAMClient({}).send(new ListRolesCommand({}));
  const lambda = new LambdaClient({});
  const { Functions = [] } = await lambda.send(new ListFunctionsCommand({}));
  const { EventSourceMappings = [] } = await lambda.send(new ListEventSourceMappingsCommand({}));
  const { TableNames = [] } = await new DynamoDBClient({}).send(new ListTablesCommand({}));
  const { QueueUrls = [] } = await new SQSClient({}).send(new ListQueuesCommand({}));
  const { logGroups = [] } = await new CloudWatchLogsClient({}).send(new DescribeLogGroupsCommand({}));
  return {
    stacks: Stacks.map(({ StackName }) => StackName).filter((name) => name !== 'CDKToolkit'),
    roles: Roles.map(({ RoleName }) => RoleName).filter((name) => !name?.startsWith('cdk-')),
    functions: Functions.map(({ FunctionName }) => FunctionName),
    mappings: EventSourceMappings.map(({ UUID }) => UUID),
    tables: TableNames,
    queues: QueueUrls,
    logs: logGroups.map(({ logGroupName }) => logGroupName),
    keys: await keysInUse(),
  };
}

/** Returns the keys that are not scheduled for deletion; AWS deletes a key days after that. */
async function keysInUse(): Promise<string[]> {
  const client = new KMSClient({});
  const { Keys = [] } = await client.send(new ListKeysCommand({}));
  const described = await Promise.all(Keys.map(({ KeyId }) => client.send(new DescribeKeyCommand({ KeyId }))));
  return described.flatMap(({ KeyMetadata }) =>
    KeyMetadata?.KeyId && KeyMetadata.KeyManager !== 'AWS' && KeyMetadata.KeyState !== 'PendingDeletion'
      ? [KeyMetadata.KeyId]
      : [],
  );
}
