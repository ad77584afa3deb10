import { readDeployedStack, unconfirmedChanges } from '../../aws/deployed/deployed-data.ts';
import { isProtected } from '../../aws/deployed/stack-policy.ts';
import { type DeploySettings, stackNameOf } from '../../aws/settings.ts';
import type { Finding } from './finding.ts';

/** Checks that a deploy keeps the table and the key of a deployed stack, and that CloudFormation protects them. */
export async function checkData(settings: DeploySettings): Promise<Finding[]> {
  const stack = stackNameOf(settings);
  try {
    const deployed = await readDeployedStack(stack);
    if (!deployed) return [];
    const changes = unconfirmedChanges(settings, deployed);
    const kept: Finding = {
      state: 'ok',
      what: `The deploy keeps the table and the key of ${stack}, or the settings confirm the change.`,
    };
    return [
      ...(changes.length > 0 ? changes.map((what): Finding => ({ state: 'problem', what })) : [kept]),
      ...(settings.ephemeral ? [] : [await checkProtection(stack)]),
    ];
  } catch (error) {
    const todo =
      'These checks need cloudformation:DescribeStacks, cloudformation:ListStackResources and cloudformation:GetStackPolicy.';
    return [{ state: 'warning', what: (error as Error).message, todo }];
  }
}

async function checkProtection(stack: string): Promise<Finding> {
  if (await isProtected(stack))
    return { state: 'ok', what: `CloudFormation denies updates that replace the table or the key of ${stack}.` };
  return {
    state: 'problem',
    what: `An update can replace or delete the table and the key of ${stack}.`,
    todo: `npm run crewboard -- protect --stack ${stack}`,
  };
}
