import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { type App, openApp } from '../../lib/app.ts';
import { environment } from '../../lib/contract/deployment.ts';
import { Problem } from '../local/problem.ts';

/** What a stack tells of itself, by the names of its outputs. */
export type Outputs = Readonly<Record<string, string | undefined>>;

/**
 * Reads the outputs of a deployed stack, with the credentials and the region of this shell.
 *
 * @throws `Problem` that says what is missing
 */
export async function outputsOf(stack: string): Promise<Outputs> {
  const client = new CloudFormationClient({});
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }));
    const { Outputs: outputs = [] } = Stacks[0] ?? {};
    return Object.fromEntries(outputs.map(({ OutputKey = '', OutputValue }) => [OutputKey, OutputValue]));
  } catch (error) {
    throw new Problem(`The stack ${stack} cannot be read: ${wordsFor(error)}`);
  } finally {
    client.destroy();
  }
}

/** The app over the table of a deployed stack. */
export async function openStack(stack: string): Promise<App> {
  const { TableName, DefaultModel } = await outputsOf(stack);
  if (!TableName) throw new Problem(`The stack ${stack} has no output TableName; is it one of Crewboard?`);
  const variables = { [environment.tableName]: TableName, [environment.defaultModel]: DefaultModel };
  return openApp({ environment: variables, clock: Date.now });
}

function wordsFor(error: unknown): string {
  const { name, message } = error as Error;
  if (name === 'CredentialsProviderError') return 'this shell has no AWS credentials; set AWS_PROFILE, or log in.';
  if (message === 'Region is missing') return 'this shell names no region; set AWS_REGION.';
  return message;
}
