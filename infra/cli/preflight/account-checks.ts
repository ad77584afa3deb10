import { CloudFormationClient, DescribeStacksCommand, type Stack } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { awsErrorMessage } from '../../aws/deployed/aws-errors.ts';
import { type Finding, unreadableFinding } from './finding.ts';

/** The stack that `cdk bootstrap` creates, and the lowest version that the CDK's synthesizer needs. */
const bootstrap = { stack: 'CDKToolkit', least: 6 };

/** The account, the region and the partition of a deploy. */
export type Account = { account: string; region: string; partition: string };

/** Checks the credentials of this shell, and returns their account. */
export async function checkAccount(): Promise<{ account?: Account; finding: Finding }> {
  const sts = new STSClient({});
  try {
    const region = await sts.config.region();
    const { Account: account = '', Arn = '' } = await sts.send(new GetCallerIdentityCommand({}));
    return {
      account: { account, region, partition: Arn.split(':')[1] || 'aws' },
      finding: { state: 'ok', what: `Account ${account}, region ${region}, as ${Arn}.` },
    };
  } catch (error) {
    const what = `AWS does not accept the credentials of this shell: ${awsErrorMessage(error)}`;
    return {
      finding: { state: 'problem', what, todo: 'Configure credentials until aws sts get-caller-identity succeeds.' },
    };
  }
}

/** Checks that the account and the region are bootstrapped for the CDK. */
export async function checkBootstrap({ account, region }: Account): Promise<Finding> {
  const todo = `npx cdk bootstrap aws://${account}/${region}`;
  const stack = await describe(bootstrap.stack);
  if (stack instanceof Error)
    return unreadableFinding(`The stack ${bootstrap.stack}`, stack, 'cloudformation:DescribeStacks');
  if (!stack) return { state: 'problem', what: 'The CDK is not bootstrapped in this account and region.', todo };
  const version = Number(stack.Outputs?.find(({ OutputKey }) => OutputKey === 'BootstrapVersion')?.OutputValue ?? 0);
  if (version >= bootstrap.least) return { state: 'ok', what: `The CDK is bootstrapped, version ${version}.` };
  return {
    state: 'problem',
    what: `The bootstrap of the CDK has version ${version}; version ${bootstrap.least} or later is needed.`,
    todo,
  };
}

const deleteIt = (name: string) => `aws cloudformation delete-stack --stack-name ${name}, then deploy again.`;

/** What to do about a stack with a status that allows no update. */
const stuck: Record<string, (name: string) => string> = {
  ROLLBACK_COMPLETE: deleteIt,
  ROLLBACK_FAILED: deleteIt,
  REVIEW_IN_PROGRESS: deleteIt,
  DELETE_FAILED: (name) =>
    `Find what could not be deleted: aws cloudformation describe-stack-events --stack-name ${name}. Then ${deleteIt(name)}`,
  UPDATE_ROLLBACK_FAILED: (name) => `aws cloudformation continue-update-rollback --stack-name ${name}`,
};

/** Checks that the stack is new or can be updated. */
export async function checkStack(name: string): Promise<Finding> {
  const stack = await describe(name);
  if (stack instanceof Error) return unreadableFinding(`The stack ${name}`, stack, 'cloudformation:DescribeStacks');
  if (!stack) return { state: 'ok', what: `The stack ${name} is new.` };
  const { StackStatus: status = '' } = stack;
  const todo = stuck[status]?.(name);
  if (todo) return { state: 'problem', what: `The stack ${name} has the status ${status}.`, todo };
  if (!status.endsWith('_IN_PROGRESS'))
    return { state: 'ok', what: `The stack ${name} exists, with the status ${status}.` };
  return {
    state: 'problem',
    what: `An operation of the stack ${name} is in progress: ${status}.`,
    todo: 'Wait until it has ended.',
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
