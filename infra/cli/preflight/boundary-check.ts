import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { GetPolicyCommand, GetPolicyVersionCommand, IAMClient } from '@aws-sdk/client-iam';
import type { DeploySettings } from '../../aws/settings.ts';
import type { Account } from './account-checks.ts';
import { type Finding, unreadableFinding } from './finding.ts';

/** The boundary that covers the rights of all roles, relative to the repository's root. */
const boundaryFile = 'docs/rights/boundary.json';

const root = join(import.meta.dirname, '..', '..', '..');

/**
 * Checks that the permissions boundary of the settings exists and has the content of `docs/rights/boundary.json`. Returns no
 * finding if the settings name none.
 */
export async function checkBoundary(
  { permissionsBoundary }: Pick<DeploySettings, 'permissionsBoundary'>,
  { account, partition }: Account,
): Promise<Finding[]> {
  if (permissionsBoundary === undefined) return [];
  const PolicyArn = `arn:${partition}:iam::${account}:policy/${permissionsBoundary}`;
  const what = `The permissions boundary ${permissionsBoundary}`;
  const iam = new IAMClient({});
  try {
    const { Policy } = await iam.send(new GetPolicyCommand({ PolicyArn }));
    const VersionId = Policy?.DefaultVersionId;
    const { PolicyVersion } = await iam.send(new GetPolicyVersionCommand({ PolicyArn, VersionId }));
    const inUse = JSON.parse(decodeURIComponent(PolicyVersion?.Document ?? '')) as unknown;
    const expected = JSON.parse(readFileSync(join(root, boundaryFile), 'utf8')) as unknown;
    if (isDeepStrictEqual(inUse, expected)) return [{ state: 'ok', what: `${what} is that of ${boundaryFile}.` }];
    return [
      {
        state: 'warning',
        what: `${what} differs from ${boundaryFile}. Functions fail where they need a right that it lacks.`,
        todo: `If you have not changed it on purpose: aws iam create-policy-version --policy-arn ${PolicyArn} --set-as-default --policy-document file://${boundaryFile}`,
      },
    ];
  } catch (error) {
    if ((error as Error).name !== 'NoSuchEntityException')
      return [unreadableFinding(what, error, 'iam:GetPolicy and iam:GetPolicyVersion')];
    const todo = `aws iam create-policy --policy-name ${permissionsBoundary} --policy-document file://${boundaryFile}`;
    return [{ state: 'problem', what: `${what} does not exist, so no role can be created.`, todo }];
  }
}
