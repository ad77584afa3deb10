import { expect, it } from 'vitest';
import { standardProfileIn } from '../../../../lib/contract/agents/models.ts';
import { run } from '../../../journeys/deployment.ts';
import { startAws, xmlError } from '../aws.ts';

const { shell, asked } = await startAws({
  'sts:GetCallerIdentity': () => ({
    body: `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>1</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`,
  }),
  'cloudformation:DescribeStacks': () => xmlError('ValidationError', 'Stack with id x does not exist'),
});
const standardModel = standardProfileIn('eu-central-1') as string;
const preflight = (...args: string[]) => run(['infra/cli/main.ts', 'preflight', ...args], shell);

it('prints each finding with what to do, and exits with 1 if there is a problem', async () => {
  const { code, stdout, stderr } = await preflight('--stage', 'small');
  expect([code, stderr]).toEqual([1, '']);
  expect(stdout).toContain('ok       settings/small.json is valid.\n');
  expect(stdout).toContain(
    'problem  The CDK is not bootstrapped in this account and region.\n         npx cdk bootstrap aws://1/eu-central-1\n',
  );
  expect(stdout).toContain('ok       The stack CrewboardEphemeral-small is new.\n');
  expect(stdout).toMatch(new RegExp(`^warning +.* eu-central-1 .*${standardModel}$`, 'm'));
  expect(asked.filter(({ path }) => path.includes('converse'))).toEqual([]);
});

it('checks only the model of --model, and calls it with --ask', async () => {
  const before = asked.length;
  const { code, stdout } = await preflight('--model', 'maker.other', '--ask');
  expect(code).toBe(1);
  expect(stdout).toMatch(/^problem +The model maker\.other does not answer in eu-central-1: /m);
  const paths = asked.slice(before).map(({ path }) => path);
  expect(paths).toContain('/model/maker.other/converse');
  expect(paths.filter((path) => path.includes(encodeURIComponent(standardModel)))).toEqual([]);
});
