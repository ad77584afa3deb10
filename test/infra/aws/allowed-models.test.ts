import { expect, it } from 'vitest';
import { type Statement, synthesized } from './synthesized.ts';

const asksModels = ({ Action }: Statement) => [Action].flat().some((action) => /^(bedrock|\*)/.test(action));

/** Returns an ARN of the template as text. */
function textOf(resource: unknown): string {
  const parts = (resource as { 'Fn::Join'?: [string, unknown[]] })['Fn::Join']?.[1] ?? [resource];
  return parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join('');
}

it('executions may call the allowed models only, with the models of their profiles, if the settings name them', () => {
  const application = 'arn:aws:bedrock:eu-central-1:1:application-inference-profile/four';
  const allowedModels = ['eu.maker.one', 'global.maker.two', 'maker.three', application];
  const limited = synthesized({ allowedModels, defaultModel: 'eu.maker.one' });
  const [asking] = limited.statementsOf('RunExecution').filter(asksModels);
  const bedrock = 'arn:{"Ref":"AWS::Partition"}:bedrock';
  const own = `${bedrock}:{"Ref":"AWS::Region"}`;
  expect([asking?.Resource].flat().map(textOf).sort()).toEqual(
    [
      `${own}:{"Ref":"AWS::AccountId"}:inference-profile/eu.maker.one`,
      `${bedrock}:eu-*::foundation-model/maker.one`,
      `${own}:{"Ref":"AWS::AccountId"}:inference-profile/global.maker.two`,
      `${own}::foundation-model/maker.two`,
      `${bedrock}:::foundation-model/maker.two`,
      `${own}::foundation-model/maker.three`,
      application,
      `${bedrock}:*::foundation-model/*`,
    ].sort(),
  );
  expect(limited.functionOf('RunExecution').Environment.Variables.ALLOWED_MODELS).toBe(allowedModels.join(','));
  limited.template.hasOutput('AllowedModels', { Value: allowedModels.join(',') });
});
