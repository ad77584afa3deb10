import { isDeepStrictEqual } from 'node:util';
import { CloudFormationClient, GetStackPolicyCommand, SetStackPolicyCommand } from '@aws-sdk/client-cloudformation';
import { ownTypes } from './deployed-data.ts';

/** Denies every update of a stack that would replace or delete its table or its key, whoever makes it. */
const denial = {
  Effect: 'Deny',
  Principal: '*',
  Action: ['Update:Replace', 'Update:Delete'],
  Resource: '*',
  Condition: { StringEquals: { ResourceType: Object.values(ownTypes) } },
};

/** A stack policy denies what it does not allow. */
const policy = { Statement: [{ Effect: 'Allow', Principal: '*', Action: 'Update:*', Resource: '*' }, denial] };

/** Sets the policy of a stack. It holds for every later update until another one is set. */
export async function setStackPolicy(stack: string): Promise<void> {
  const StackPolicyBody = JSON.stringify(policy);
  await new CloudFormationClient({}).send(new SetStackPolicyCommand({ StackName: stack, StackPolicyBody }));
}

/** Tells whether the policy of a stack, which may say more, denies the replacement and deletion of its table and key. */
export async function isProtected(stack: string): Promise<boolean> {
  const { StackPolicyBody } = await new CloudFormationClient({}).send(new GetStackPolicyCommand({ StackName: stack }));
  if (!StackPolicyBody) return false;
  const { Statement } = JSON.parse(StackPolicyBody) as { Statement: unknown };
  return [Statement].flat().some((statement) => isDeepStrictEqual(statement, denial));
}
