import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allOptions } from '../infra/aws/all-options.ts';
import { testAgents } from './agents.ts';
import { testConsole } from './console.ts';
import { deploy, destroy } from './deployed.ts';
import { cdk, folderOfRun } from './emulator/cdk.ts';
import { leftovers } from './emulator/leftovers.ts';
import { errorsOf } from './emulator/lint.ts';
import { testMcp } from './mcp.ts';
import { testErrorResponses } from './rights/error-responses.ts';
import { testLeastPrivilege } from './rights/least-privilege.ts';
import { testRights } from './rights/rights.ts';
import { testTasks } from './tasks.ts';
import { testUpdate } from './update.ts';
import { testWebhooks } from './webhooks.ts';

/** How the CDK reports a broken rule. It also informs about 400 resources; `test/infra/aws/growth.test.ts` watches the limit. */
const brokenRule = /Acknowledge with '(?!Annotation::info)/;

describe('the template', () => {
  it.each(readdirSync('settings').map((name) => name.replace('.json', '')))(
    'of settings/%s.json keeps the rules of cdk-nag',
    async (stage) => {
      expect(await cdk(['synth', '--quiet', '-c', `stage=${stage}`])).not.toMatch(brokenRule);
    },
    120_000,
  );

  // It has what the settings above have: cfn-lint takes most of the time of these tests.
  it('of a stack with every optional part has no error for CloudFormation, and keeps the same rules', async () => {
    expect(await cdk(['synth', '--quiet'], allOptions)).not.toMatch(brokenRule);
    expect(await errorsOf(join(folderOfRun(), 'cdk.out', 'Crewboard.template.json'))).toBe('');
  }, 120_000);

  it('with an error is rejected by cfn-lint', async () => {
    const broken = join(folderOfRun(), 'broken.template.json');
    writeFileSync(
      broken,
      JSON.stringify({ Resources: { Queue: { Type: 'AWS::SQS::Queue', Properties: { Nam: 'a' } } } }),
    );
    expect(await errorsOf(broken)).toContain('E3002');
  }, 60_000);
});

describe('the policy of docs/rights/cloudformation.json', () => {
  testRights();
});

describe('an empty account', () => {
  it('is bootstrapped, and the stack deployed', async () => {
    await cdk(['bootstrap', 'aws://000000000000/us-east-1']);
    await deploy();
  }, 240_000);
});

describe('the deployed service', { concurrent: true }, () => {
  testErrorResponses();
  testTasks();
  testAgents();
  testWebhooks();
  testMcp();
  testConsole();
});

describe('the grants of the functions', () => {
  testLeastPrivilege();
});

describe('an update', () => {
  testUpdate();
});

describe('the destruction of the stack', () => {
  it('is one command, which leaves nothing', async () => {
    const none = { stacks: [], roles: [], functions: [], mappings: [], tables: [], queues: [], logs: [], keys: [] };
    const before = await leftovers();
    for (const kind of Object.values(before)) expect(kind).not.toEqual([]);
    await destroy();
    expect(await leftovers()).toEqual(none);
  });
});
