import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
  type StackResourceSummary,
} from '@aws-sdk/client-cloudformation';
import { type Context, createContext } from '../../../lib/context/context.ts';
import { environment } from '../../../lib/names/environment.ts';
import { type QueueName, queues } from '../../../lib/names/queues.ts';
import { Problem } from '../../problem.ts';
import { stackNameOf } from '../settings.ts';
import { awsErrorMessage } from './aws-errors.ts';

/** The name of the stack that `cdk deploy` creates without a stage. */
export const standardStack = stackNameOf({ stage: undefined, ephemeral: false });

/** The outputs of a stack, by name. */
export type Outputs = Readonly<Record<string, string | undefined>>;

/** A resource of a stack: its logical id, its type, and its name in AWS (the physical id). */
export type Resource = { id: string; type: string; name: string };

/**
 * Reads the outputs of a deployed stack, with the credentials and the region of this shell.
 *
 * @throws `Problem` if the stack cannot be read
 */
export async function outputsOf(stack: string): Promise<Outputs> {
  return reading(stack, async (client) => {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }));
    const { Outputs: outputs = [] } = Stacks[0] ?? {};
    return Object.fromEntries(outputs.map(({ OutputKey = '', OutputValue }) => [OutputKey, OutputValue]));
  });
}

/**
 * Reads the resources of a deployed stack.
 *
 * @throws `Problem` if the stack cannot be read
 */
export async function resourcesOf(stack: string): Promise<Resource[]> {
  const summaries = await reading(stack, async (client) => {
    const pages = await Array.fromAsync(paginateListStackResources({ client }, { StackName: stack }));
    return pages.flatMap(({ StackResourceSummaries = [] }): StackResourceSummary[] => StackResourceSummaries);
  });
  return summaries.map(({ LogicalResourceId: id = '', ResourceType: type = '', PhysicalResourceId: name = '' }) => ({
    id,
    type,
    name,
  }));
}

/**
 * Creates the context of a deployed stack, for its table.
 *
 * @throws `Problem` if the stack cannot be read or has no table
 */
export async function createStackContext(stack: string): Promise<Context> {
  const outputs = await outputsOf(stack);
  const variables = {
    [environment.tableName]: tableNameIn(stack, outputs),
    [environment.defaultModel]: outputs.DefaultModel,
    [environment.allowedModels]: outputs.AllowedModels,
    [environment.requestsPerMinute]: outputs.RequestsPerMinute,
    [environment.executionsPerMinute]: outputs.ExecutionsPerMinute,
    [environment.dailyTokens]: outputs.DailyTokens,
  };
  return createContext({ environment: variables, clock: Date.now });
}

function tableNameIn(stack: string, { TableName }: Outputs): string {
  if (!TableName) throw new Problem(`The stack ${stack} has no output TableName; name a stack of Crewboard.`);
  return TableName;
}

/**
 * Returns the URLs of the queues of a stack, by the names in `lib/names/queues.ts`.
 *
 * @throws `Problem` if the stack lacks a queue
 */
export function queueUrlsOf(resources: readonly Resource[]): Record<QueueName, string> {
  const names = Object.keys(queues) as QueueName[];
  const urls = names.map((name) => [name, resourceName(resources, 'AWS::SQS::Queue', name)]);
  return Object.fromEntries(urls) as Record<QueueName, string>;
}

/**
 * Returns the name in AWS of a resource of the pipeline: the URL of a queue, or the name of a function.
 *
 * @param name the name of the queue or the consumer in `lib/names`
 * @throws `Problem` if the stack lacks the resource
 */
export function resourceName(resources: readonly Resource[], type: string, name: string): string {
  // The CDK makes the logical id of the path of the construct and eight hexadecimal digits of a hash.
  const id = new RegExp(`^Pipeline${name.charAt(0).toUpperCase()}${name.slice(1)}[0-9A-F]{8}$`);
  const found = resources.find((resource) => resource.type === type && id.test(resource.id));
  if (!found) throw new Problem(`The stack has no ${name}; name a stack of Crewboard of this version.`);
  return found.name;
}

async function reading<Read>(stack: string, read: (client: CloudFormationClient) => Promise<Read>): Promise<Read> {
  const client = new CloudFormationClient({});
  try {
    return await read(client);
  } catch (error) {
    throw new Problem(`The stack ${stack} cannot be read: ${awsErrorMessage(error)}`);
  } finally {
    client.destroy();
  }
}
