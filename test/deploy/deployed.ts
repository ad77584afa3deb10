import { CloudFormationClient, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import {
  GetFunctionConfigurationCommand,
  type GetFunctionConfigurationCommandOutput,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import { expect } from 'vitest';
import { outputsOf } from '../../infra/cli/stack/stack.ts';
import { callerOf, type Deployment, run } from '../journeys/deployment.ts';
import { cdk } from './cdk.ts';

/** The stack of these tests. */
export const stack = 'CrewboardEphemeral';

/** The settings of every deployment here: an ephemeral stack, with retries within seconds. */
const settings = { ephemeral: true, emulator: true, retryLadder: [2, 3, 4] };

/** The deployed service, and the organization of a token. */
export type Deployed = Pick<Deployment, 'api' | 'url' | 'token'>;

/** Deploys the stack, or updates it with further settings. */
export async function deploy(more: object = {}): Promise<void> {
  await cdk(['deploy', '--require-approval', 'never'], { ...settings, ...more });
}

/** Destroys the stack. */
export async function destroy(): Promise<void> {
  await cdk(['destroy', '--force'], settings);
}

/** The deployed service, for a new organization. */
export async function openDeployed(organization: string): Promise<Deployed> {
  const { Url = '' } = await outputsOf(stack);
  const [, api] = /^https:\/\/(\w+)\./.exec(Url) ?? [];
  // The emulator serves the host names of APIs by a path of its own, for they lead nowhere on this machine.
  const url = `${process.env.AWS_ENDPOINT_URL}/_aws/execute-api/${api}/$default`;
  const token = await tokenCommand('create', '--org', organization);
  return { url, token, api: callerOf(url, token) };
}

/** Runs the token command of an operator, and answers what it printed. */
export async function tokenCommand(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(
    ['infra/cli/main.ts', 'token', ...args, '--stack', stack],
    process.env as Record<string, string>,
  );
  expect([code, stderr]).toEqual([0, '']);
  return stdout.trim();
}

/** The resources of the stack: the name that AWS knows each by, by type and construct id. */
export async function resourceOf(type: string, construct: string): Promise<string> {
  const client = new CloudFormationClient({});
  let NextToken: string | undefined;
  do {
    const page = await client.send(new ListStackResourcesCommand({ StackName: stack, NextToken }));
    const found = page.StackResourceSummaries?.find(
      ({ ResourceType, LogicalResourceId }) =>
        ResourceType === type && new RegExp(`^[A-Z][a-z]+${construct}[0-9A-F]{8}$`).test(LogicalResourceId ?? ''),
    );
    if (found?.PhysicalResourceId) return found.PhysicalResourceId;
    NextToken = page.NextToken;
  } while (NextToken);
  throw new Error(`The stack has no ${type} of ${construct}.`);
}

/** How a function is configured, by its construct id. */
export async function functionOf(construct: string): Promise<GetFunctionConfigurationCommandOutput> {
  const FunctionName = await resourceOf('AWS::Lambda::Function', construct);
  return new LambdaClient({}).send(new GetFunctionConfigurationCommand({ FunctionName }));
}

/** What the log group of a function has from a moment on, and matches. */
export async function logged(construct: string, since: number, pattern: RegExp): Promise<string[]> {
  const { LoggingConfig: { LogGroup: logGroupName } = {} } = await functionOf(construct);
  const client = new CloudWatchLogsClient({});
  const { events = [] } = await client.send(new FilterLogEventsCommand({ logGroupName, startTime: since }));
  return events.map(({ message = '' }) => message).filter((message) => pattern.test(message));
}
