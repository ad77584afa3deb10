import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { functionVariables } from '../../../infra/aws/functions/function-variables.ts';
import { constructIdOf } from '../../../infra/aws/functions/service-function.ts';
import { everythingBefore } from '../../../scripts/bursts.ts';
import { createTemporaryFolder } from '../../temporary-files.ts';
import { stackOf, synthesized } from './synthesized.ts';

type Check = {
  Properties: { functions: { name: string; arn: unknown }[] } & Record<string, unknown>;
  DependsOn: string[];
};

/** Returns the check of a stack with its logical id, and the statements of its role. */
function checkOf(settings: Record<string, unknown> = {}) {
  const stack = synthesized(settings);
  const checks = Object.entries(stack.resources('Custom::StartCheck')) as [string, Check][];
  const [id, check] = checks[0] as [string, Check];
  return { ...stack, checks, id, check };
}

const { template, checks, check, id, functions, functionOf, logicalId, statementsOf } = checkOf();
const names = check.Properties.functions.map(({ name }) => name);

describe('the check of a deploy', () => {
  it('is one resource, which depends on all functions', () => {
    expect(checks).toHaveLength(1);
    const others = Object.keys(functions).filter((function_) => function_ !== logicalId('CheckFunctions'));
    expect(check.DependsOn.toSorted()).toEqual(others.sort());
  });

  it('calls a function of each role and each set of variables, first one that encrypts', () => {
    expect(names[0]).toMatch(/^(RegisterWebhook|RotateWebhookSecret)$/);
    const groupOf = (function_: (typeof functions)[string]) =>
      JSON.stringify([function_.Properties.Role, Object.keys(function_.Properties.Environment.Variables).sort()]);
    const all = Object.entries(functions).filter(([function_]) => function_ !== logicalId('CheckFunctions'));
    const groups = new Set(all.map(([, function_]) => groupOf(function_)));
    expect(new Set(names.map((name) => groupOf({ Properties: functionOf(name) })))).toEqual(groups);
  });

  it('may invoke exactly these functions, and nothing else', () => {
    const arns = check.Properties.functions.map(({ arn }) => arn);
    expect(arns).toHaveLength(names.length);
    const [log, invoke, ...others] = statementsOf('CheckFunctions');
    expect([log?.Action, invoke?.Action, others]).toEqual([
      ['logs:CreateLogStream', 'logs:PutLogEvents'],
      'lambda:InvokeFunction',
      [],
    ]);
    expect(new Set([invoke?.Resource].flat())).toEqual(new Set(arns));
  });

  it('ends within minutes, whatever happens', () => {
    expect(functionOf('CheckFunctions').Timeout).toBe(180);
    expect(check.Properties.ServiceTimeout).toBe('240');
  });

  it('has the same id for the same stack, and another after a change of code, of a setting or of rights', () => {
    expect(checkOf().id).toBe(id);
    const changed = [
      checkOf({ runningCap: 49 }).id,
      checkOf({ throttleRate: 99 }).id,
      checkOf({ allowedModels: ['m'], defaultModel: 'm' }).id,
    ];
    const folder = createTemporaryFolder();
    writeFileSync(join(folder, 'index.mjs'), 'export const handler = async () => 1;');
    const recoded = Template.fromStack(stackOf(undefined, {}, undefined, { 'functions/agents/get-agent.ts': folder }));
    changed.push(Object.keys(recoded.findResources('Custom::StartCheck'))[0] ?? '');
    expect(new Set([id, ...changed]).size).toBe(5);
    expect(id).toMatch(/^StartCheckResult[0-9A-F]{16}$/);
  });

  it('leaves an ephemeral stack without remains', () => {
    const ephemeral = Template.fromStack(stackOf(undefined, { ephemeral: true }));
    ephemeral.allResources('Custom::StartCheck', { DeletionPolicy: 'Delete' });
    template.resourceCountIs('Custom::StartCheck', 1);
  });

  it('calls the versions to which requests move, before they move, and consumers themselves', () => {
    const versions = synthesized().resources('AWS::Lambda::Version');
    const versionOf = (name: string) =>
      Object.keys(versions).find((one) => versions[one]?.Properties.FunctionName.Ref === logicalId(name));
    const served = names.map((name) => {
      const version = versionOf(name);
      return { name, arn: version ? { Ref: version } : { 'Fn::GetAtt': [logicalId(name), 'Arn'] } };
    });
    expect(check.Properties.functions).toEqual(served);
    const before = everythingBefore(template.toJSON().Resources);
    const integrations = Object.keys(template.findResources('AWS::ApiGatewayV2::Integration'));
    for (const integration of integrations) expect(before.get(integration)).toContain(id);
  });
});

it('every function of the list of variables is in the stack', () => {
  const ids = Object.keys(functionVariables).map((source) =>
    constructIdOf(
      (source.split('/').at(-1) ?? '').replace('.ts', '').replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase()),
    ),
  );
  for (const one of ids) expect(functionOf(one)).toBeDefined();
});
