import { describe, expect, it } from 'vitest';
import { consumers } from '../../../lib/deployment/consumers.ts';
import { type Statement, synthesized } from './synthesized.ts';

const asksModels = ({ Action }: Statement) => [Action].flat().some((action) => /^(bedrock|\*)/.test(action));

describe('models', () => {
  it('may be the allowed ones only, with the models of their profiles, if the settings name them', () => {
    const allowedModels = [
      'eu.maker.one',
      'global.maker.two',
      'maker.three',
      'arn:aws:bedrock:eu-central-1:1:application-inference-profile/four',
    ];
    const settings = { allowedModels, defaultModel: 'eu.maker.one' };
    const limited = synthesized(settings);
    const [asking] = limited.statementsOf('RunExecution').filter(asksModels);
    const own = '{"Ref":"AWS::Region"}';
    const arn = (region: string, account: string, resource: string) =>
      `arn:{"Ref":"AWS::Partition"}:bedrock:${region}:${account}:${resource}`;
    const written = [asking?.Resource].flat().map((resource) => {
      const parts = (resource as { 'Fn::Join'?: [string, unknown[]] })['Fn::Join']?.[1] ?? [resource];
      return parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join('');
    });
    const expected = [
      arn(own, '{"Ref":"AWS::AccountId"}', 'inference-profile/eu.maker.one'),
      arn('eu-*', '', 'foundation-model/maker.one'),
      arn(own, '{"Ref":"AWS::AccountId"}', 'inference-profile/global.maker.two'),
      arn(own, '', 'foundation-model/maker.two'),
      arn('', '', 'foundation-model/maker.two'),
      arn(own, '', 'foundation-model/maker.three'),
      'arn:aws:bedrock:eu-central-1:1:application-inference-profile/four',
      arn('*', '', 'foundation-model/*'),
    ];
    expect(written.sort()).toEqual(expected.sort());
    expect(limited.functionOf('RunExecution').Environment.Variables.ALLOWED_MODELS).toBe(allowedModels.join(','));
    const outputs = limited.template.findOutputs('AllowedModels') as { AllowedModels?: { Value: string } };
    expect(outputs.AllowedModels?.Value).toBe(allowedModels.join(','));
  });
});

describe('executions', () => {
  const { timeoutSeconds } = consumers.runExecution;

  it('have a longer timeout than their ten minutes, up to the limit of Lambda', () => {
    expect(timeoutSeconds).toBeGreaterThan(600);
    expect(timeoutSeconds).toBeLessThanOrEqual(900);
  });
});
