import { GetRolePolicyCommand, IAMClient, ListRolePoliciesCommand, PutRolePolicyCommand } from '@aws-sdk/client-iam';
import { functionOf } from '../deployed.ts';

/** A statement of a policy, as the CDK writes it. */
type Statement = { Effect: 'Allow' | 'Deny'; Action: string | string[]; Resource: string | string[] };
type Policy = { Version: string; Statement: Statement[] };

const client = new IAMClient({});

/** Returns whether a grant contains an action on a resource. */
export type Grant = (action: string, resource: string) => boolean;

/**
 * Removes a grant from a function's role during an action, and so from all functions that share the role.
 *
 * @param construct the function, by its construct id
 * @throws Error if the role has no such grant
 */
export async function without(construct: string, grant: Grant, act: () => Promise<unknown>): Promise<void> {
  const { Role } = await functionOf(construct);
  const RoleName = Role?.split('/').at(-1);
  const { PolicyNames: [PolicyName] = [] } = await client.send(new ListRolePoliciesCommand({ RoleName }));
  const named = { RoleName, PolicyName };
  const { PolicyDocument = '' } = await client.send(new GetRolePolicyCommand(named));
  const whole = decodeURIComponent(PolicyDocument);
  const policy = JSON.parse(whole) as Policy;
  const left = policy.Statement.flatMap((statement) => withoutGrant(statement, grant));
  const put = (document: string) => client.send(new PutRolePolicyCommand({ ...named, PolicyDocument: document }));
  if (JSON.stringify(left) === JSON.stringify(policy.Statement)) throw new Error(`${construct} has no such grant.`);
  await put(JSON.stringify({ ...policy, Statement: left }));
  try {
    await act();
  } finally {
    await put(whole);
  }
}

/** Returns the statement without the actions of the grant on any of its resources. */
function withoutGrant(statement: Statement, grant: Grant): Statement[] {
  const { Effect, Action, Resource } = statement;
  if (Effect === 'Deny') return [statement];
  const kept = [Action].flat().filter((action) => ![Resource].flat().some((resource) => grant(action, resource)));
  if (kept.length === [Action].flat().length) return [statement];
  return kept.length > 0 ? [{ ...statement, Action: kept }] : [];
}
