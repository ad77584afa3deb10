import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
  type StackResourceSummary,
} from '@aws-sdk/client-cloudformation';
import { type App, openApp } from '../../../lib/app.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { type QueueName, queues } from '../../../lib/deployment/queues.ts';
import { stackNameOf } from '../../aws/settings.ts';
import { Problem } from '../../local/problem.ts';
import { wordsFor } from './aws-errors.ts';

/** The stack that `cdk deploy` makes where no stage is set. */
export const standardStack = stackNameOf({ stage: undefined, ephemeral: false });

/** What a stack tells of itself, by the names of its outputs. */
export type Outputs = Readonly<Record<string, string | undefined>>;

/** A part of a stack: its id in the template, its type, and what it is called in AWS. */
export type Resource = { id: string; type: string; name: string };

/**
 * Reads the outputs of a deployed stack, with the credentials and the region of this shell.
 *
 * @throws `Problem` that says what is missing
 */
export async function outputsOf(stack: string): Promise<Outputs> {
  return reading(stack, async (client) => {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }));
    const { Outputs: outputs = [] } = Stacks[0] ?? {};
    return Object.fromEntries(outputs.map(({ OutputKey = '', OutputValue }) => [OutputKey, OutputValue]));
  });
}

/**
 * Reads what a deployed stack consists of.
 *
 * @throws `Problem` that says what is missing
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
 * The name of a deployed stack's table.
 *
 * @throws `Problem` that says what is missing
 */
export async function tableOf(stack: string): Promise<string> {
  return tableIn(stack, await outputsOf(stack));
}

/** The app over the table of a deployed stack. */
export async function openStack(stack: string): Promise<App> {
  const outputs = await outputsOf(stack);
  const variables = {
    [environment.tableName]: tableIn(stack, outputs),
    [environment.defaultModel]: outputs.DefaultModel,
    [environment.allowedModels]: outputs.AllowedModels,
    [environment.requestsPerMinute]: outputs.RequestsPerMinute,
    [environment.executionsPerMinute]: outputs.ExecutionsPerMinute,
  };
  return openApp({ environment: variables, clock: Date.now });
}

function tableIn(stack: string, { TableName }: Outputs): string {
  if (!TableName) throw new Problem(`The stack ${stack} has no output TableName; is it one of Crewboard?`);
  return TableName;
}

/**
 * Where the queues of a stack are, by their names in the contract.
 *
 * @throws `Problem` for a stack that lacks one
 */
export function queueUrlsOf(resources: readonly Resource[]): Record<QueueName, string> {
  const names = Object.keys(queues) as QueueName[];
  const urls = names.map((name) => [name, partOf(resources, 'AWS::SQS::Queue', name)]);
  return Object.fromEntries(urls) as Record<QueueName, string>;
}

/**
 * What a part of the pipeline is called in AWS: a queue's URL, a function's name.
 *
 * @param part its name in the contract
 * @throws `Problem` for a stack that lacks it
 */
export function partOf(resources: readonly Resource[], type: string, part: string): string {
  // The CDK's id of a construct: its path, and eight digits of a hash.
  const id = new RegExp(`^Pipeline${part.charAt(0).toUpperCase()}${part.slice(1)}[0-9A-F]{8}$`);
  const found = resources.find((resource) => resource.type === type && id.test(resource.id));
  if (!found) throw new Problem(`The stack has no ${part}; is it one of Crewboard, and of this version?`);
  return found.name;
}

async function reading<Read>(stack: string, read: (client: CloudFormationClient) => Promise<Read>): Promise<Read> {
  const client = new CloudFormationClient({});
  try {
    return await read(client);
  } catch (error) {
    throw new Problem(`The stack ${stack} cannot be read: ${wordsFor(error)}`);
  } finally {
    client.destroy();
  }
}
