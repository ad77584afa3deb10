import { expect, it } from 'vitest';
import boundary from '../../../../docs/rights/boundary.json' with { type: 'json' };
import { checkBoundary } from '../../../../infra/cli/preflight/boundary-check.ts';
import { type AwsAnswer, useAws, xmlError, xmlResult } from '../aws.ts';

const account = { account: '123456789012', region: 'cn-north-1', partition: 'aws-cn' };
const arn = 'arn:aws-cn:iam::123456789012:policy/CrewboardBoundary';

const exists = xmlResult('GetPolicy', '<Policy><DefaultVersionId>v3</DefaultVersionId></Policy>');
const document = (content: object) =>
  xmlResult(
    'GetPolicyVersion',
    `<PolicyVersion><Document>${encodeURIComponent(JSON.stringify(content))}</Document></PolicyVersion>`,
  );

it.each<[string, AwsAnswer, object, string, RegExp]>([
  ['is that of the file', exists, boundary, 'ok', /is that of docs.rights.boundary\.json/],
  [
    'is an older one',
    exists,
    { ...boundary, Statement: [] },
    'warning',
    /create-policy-version --policy-arn arn:aws-cn:/,
  ],
  [
    'is missing',
    xmlError('NoSuchEntity', 'No such policy.', 404),
    {},
    'problem',
    /aws iam create-policy --policy-name Crew/,
  ],
  [
    'cannot be read',
    xmlError('AccessDenied', 'You may not.', 403),
    {},
    'warning',
    /needs iam:GetPolicy and iam:GetPol/,
  ],
])('the permissions boundary %s', async (_, policy, content, state, text) => {
  const asked = await useAws({ 'iam:GetPolicy': () => policy, 'iam:GetPolicyVersion': () => document(content) });
  const [finding] = await checkBoundary({ permissionsBoundary: 'CrewboardBoundary' }, account);
  expect(finding?.state).toBe(state);
  expect(`${finding?.what} ${finding?.todo}`).toMatch(text);
  expect(asked.map(({ body }) => body.PolicyArn)).toEqual(asked.map(() => arn));
});

it('a stack without a permissions boundary needs no check of it', async () => {
  expect(await checkBoundary({}, account)).toEqual([]);
});
