import { CloudFormationClient, DescribeStacksCommand, type Stack } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { wordsFor } from '../stack/aws-errors.ts';
import { type Finding, unread } from './finding.ts';

/** The stack that `cdk bootstrap` makes, and the version of it that the CDK's own synthesizer asks for. */
const bootstrap = { stack: 'CDKToolkit', least: 6 };

/** Whose account and which region a deploy would go to. */
export type Account = { account: string; region: string };

/** Finds the account of this shell's credentials. */
export async function findAccount(): Promise<{ account?: Account; finding: Finding }> {
  const sts = new STSClient({});
  try {
    const region = await sts.config.region();
    const { Account: account = '', Arn } = await sts.send(new GetCallerIdentityCommand({}));
    return {
      account: { account, region },
      finding: { state: 'ok', what: `Account ${account}, region ${region}, as ${Arn}.` },
    };
  } catch (error) {
    const what = `AWS does not know this shell: ${wordsFor(error)}`;
    return {
      finding: { state: 'problem', what, todo: 'aws sts get-caller-identity has to work before anything else.' },
    };
  }
}

/** Finds whether the CDK can deploy to the account and region at all. */
export async function findBootstrap({ account, region }: Account): Promise<Finding> {
  const todo = `npx cdk bootstrap aws://${account}/${region}`;
  const stack = await describe(bootstrap.stack);
  if (stack instanceof Error) return unread(`The stack ${bootstrap.stack}`, stack, 'cloudformation:DescribeStacks');
  if (!stack) return { state: 'problem', what: 'The CDK is not bootstrapped here.', todo };
  const version = Number(stack.Outputs?.find(({ OutputKey }) => OutputKey === 'BootstrapVersion')?.OutputValue ?? 0);
  if (version >= bootstrap.least) return { state: 'ok', what: `The CDK is bootstrapped, version ${version}.` };
  return {
    state: 'problem',
    what: `The CDK’s bootstrap is of version ${version}; ${bootstrap.least} is needed.`,
    todo,
  };
}

const deleteIt = (name: string) => `aws cloudformation delete-stack --stack-name ${name}, then deploy again.`;

/** What to do about a stack in a state that takes no update. */
const stuck: Record<string, (name: string) => string> = {
  ROLLBACK_COMPLETE: deleteIt,
  ROLLBACK_FAILED: deleteIt,
  REVIEW_IN_PROGRESS: deleteIt,
  DELETE_FAILED: (name) =>
    `aws cloudformation describe-stack-events --stack-name ${name} says what could not be deleted; ${deleteIt(name)}`,
  UPDATE_ROLLBACK_FAILED: (name) => `aws cloudformation continue-update-rollback --stack-name ${name}`,
};

/** Finds whether the stack, if it is there, takes an update. */
export async function findStack(name: string): Promise<Finding> {
  const stack = await describe(name);
  if (stack instanceof Error) return unread(`The stack ${name}`, stack, 'cloudformation:DescribeStacks');
  if (!stack) return { state: 'ok', what: `The stack ${name} is new.` };
  const { StackStatus: status = '' } = stack;
  const todo = stuck[status]?.(name);
  if (todo) return { state: 'problem', what: `The stack ${name} is ${status}.`, todo };
  if (!status.endsWith('_IN_PROGRESS')) return { state: 'ok', what: `The stack ${name} is there, ${status}.` };
  return {
    state: 'problem',
    what: `The stack ${name} is being changed: ${status}.`,
    todo: 'Wait until that has ended.',
  };
}

async function describe(StackName: string): Promise<Stack | undefined | Error> {
  try {
    const { Stacks = [] } = await new CloudFormationClient({}).send(new DescribeStacksCommand({ StackName }));
    return Stacks[0];
  } catch (error) {
    return (error as Error).message.includes('does not exist') ? undefined : (error as Error);
  }
}
