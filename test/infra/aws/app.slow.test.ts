import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder, run } from '../../journeys/deployment.ts';
import { describedStack, stackResources, startAws } from '../cli/aws.ts';

const folder = newFolder();
writeFileSync(join(folder, 'default.json'), '{}');

/** Runs the app as the CDK does, which sets the account of the shell's credentials. */
const synthesize = (context: object, environment: Record<string, string> = {}) =>
  run(['infra/aws/app.ts', folder], { CDK_CONTEXT_JSON: JSON.stringify(context), ...environment });

it('rejects a setting of -c in one sentence, without a stack trace', async () => {
  const { code, stderr } = await synthesize({ alarmEmail: 'a@example.com' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Only the stage can be set with -c.*\n {2}alarmEmail is a setting; write it to .*\n$/);
});

it('compares with the deployed stack if a deploy is possible, and rejects another table', async () => {
  const { shell, asked } = await startAws({
    'cloudformation:DescribeStacks': () => describedStack({ TableName: 'in-use' }),
    'cloudformation:ListStackResources': stackResources([{ id: 'Other', type: 'AWS::SQS::Queue', name: 'other' }]),
  });
  const account = { CDK_DEFAULT_ACCOUNT: '123456789012', CDK_DEFAULT_REGION: 'eu-central-1' };
  const { code, stderr } = await synthesize({}, { ...shell, ...account });
  expect([code, asked.length]).toEqual([1, 2]);
  expect(stderr).toMatch(/^Crewboard uses the table in-use; this deploy would replace it with a new one\. .*\n$/);
});
