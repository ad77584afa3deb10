import { isDeepStrictEqual } from 'node:util';
import { CloudFormationClient, GetStackPolicyCommand, SetStackPolicyCommand } from '@aws-sdk/client-cloudformation';
import { ownTypes } from './deployed-data.ts';

/** Denies every update that would replace or delete the table or the key of a stack, for all principals. */
const denial = {
  Effect: 'Deny',
  Principal: '*',
  Action: ['Update:Replace', 'Update:Delete'],
  Resource: '*',
  Condition: { StringEquals: { ResourceType: Object.values(ownTypes) } },
};

/** The policy allows all other updates explicitly, because a stack policy denies by default. */
const policy = { Statement: [{ Effect: 'Allow', Principal: '*', Action: 'Update:*', Resource: '*' }, denial] };

/** Sets the policy of a stack. It applies to every later update until another policy is set. */
export async function setStackPolicy(stack: string): Promise<void> {
  const StackPolicyBody = JSON.stringify(policy);
  await new CloudFormationClient({}).send(new SetStackPolicyCommand({ StackName: stack, StackPolicyBody }));
}

/** Returns whether the policy of a stack contains the denial of replacement and deletion of its table and its key. */
export async function isProtected(stack: string): Promise<boolean> {
  const { StackPolicyBody } = await new CloudFormationClient({}).send(new GetStackPolicyCommand({ StackName: stack }));
  if (!StackPolicyBody) return false;
  const { Statement } = JSON.parse(StackPolicyBody) as { Statement: unknown };
  return [Statement].flat().some((statement) => isDeepStrictEqual(statement, denial));
}
