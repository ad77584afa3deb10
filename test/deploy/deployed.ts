import { join } from 'node:path';
import { CloudFormationClient, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import {
  GetFunctionConfigurationCommand,
  type GetFunctionConfigurationCommandOutput,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import { outputsOf } from '../../infra/aws/deployed/stack.ts';
import type { Api } from '../api.ts';
import { createApiOverHttp } from '../api-over-http.ts';
import { run } from '../journeys/deployment.ts';
import type { Answer } from '../service.ts';
import { cdk } from './emulator/cdk.ts';

/** The stack of these tests: `STACK` names it, or they deploy it to the emulator. */
export const stack = process.env.STACK ?? 'CrewboardEphemeral';

/** Organizations of this run end with it: organizations of earlier runs stay on a stack that is not destroyed. */
const ofThisRun = Date.now().toString(36);

/** The settings of every deployment here: an ephemeral stack, with retries within seconds. */
const settings = { ephemeral: true, emulator: true, allowedModels: 'every', retryLadder: [2, 3, 4] };

/** An organization of the deployed service, and an access token of it. */
export type Deployed = { organization: string; api: Api; url: string; token: string };

/** Deploys the stack of these sources, or of another checkout, or updates it. `more` are further settings. */
export async function deploy(more: object = {}, checkout?: string): Promise<void> {
  await cdk(['deploy', '--require-approval', 'never'], { ...settings, ...more }, checkout);
}

export async function destroy(): Promise<void> {
  await cdk(['destroy', '--force'], settings);
}

/** Creates a token of a new organization of the deployed service, by these sources or another checkout. It expires after a day. */
export async function createDeployedOrganization(name: string, checkout?: string): Promise<Deployed> {
  const { Url = '' } = await outputsOf(stack);
  const url = reachableUrl(Url);
  const organization = `${name}-${ofThisRun}`;
  const token = await operatorCommand(['token', 'create', '--org', organization, '--expires-in-days', '1'], checkout);
  return { organization, url, token, api: createApiOverHttp(url, token) };
}

/** Returns the URL of the API, or the URL of the emulator: the host names of its APIs do not resolve on this machine. */
function reachableUrl(url: string): string {
  const { AWS_ENDPOINT_URL: emulator } = process.env;
  if (!emulator) return url;
  const [, api] = /^https:\/\/(\w+)\./.exec(url) ?? [];
  return `${emulator}/_aws/execute-api/${api}/$default`;
}

/** Returns a header of a response: a gateway may change the case of its name. */
export function headerOf({ headers }: Answer, name: string): string {
  return Object.entries(headers).find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1] ?? '';
}

/** Runs a command for operators of these sources, or of another checkout, on the stack. It must succeed. Returns its output. */
export async function operatorCommand(args: string[], checkout = '.'): Promise<string> {
  const { code, stdout, stderr } = await run(
    [join(checkout, 'infra', 'cli', 'main.ts'), ...args, '--stack', stack],
    process.env as Record<string, string>,
  );
  if (code !== 0 || stderr !== '') throw new Error(`${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return stdout.trim();
}

/** Returns the name of a resource of the stack in AWS, by its type and construct id. */
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

export async function functionOf(construct: string): Promise<GetFunctionConfigurationCommandOutput> {
  const FunctionName = await resourceOf('AWS::Lambda::Function', construct);
  return new LambdaClient({}).send(new GetFunctionConfigurationCommand({ FunctionName }));
}

/** Returns the lines of the log group of a function from a moment on that match. */
export async function logged(construct: string, since: number, pattern: RegExp): Promise<string[]> {
  const { LoggingConfig: { LogGroup: logGroupName } = {} } = await functionOf(construct);
  const client = new CloudWatchLogsClient({});
  const { events = [] } = await client.send(new FilterLogEventsCommand({ logGroupName, startTime: since }));
  return events.map(({ message = '' }) => message).filter((message) => pattern.test(message));
}
