import { describe, expect, it } from 'vitest';
import { constructIdOf } from '../../../../infra/aws/functions/service-function.ts';
import type { SecretsUse } from '../../../../lib/contract/endpoint.ts';
import { functionNameOf, routes } from '../../../../lib/contract/routes.ts';
import { type Consumer, consumers } from '../../../../lib/names/consumers.ts';
import { synthesized } from '../synthesized.ts';

const { template, resources, functionOf } = synthesized();
const [key = ''] = Object.keys(resources('AWS::KMS::Key'));
const functions = routes.map(([name, row]) => [functionNameOf(name, row), row] as const);
const rows = [...functions, ...Object.entries(consumers as Record<string, Consumer>)].map(([name, { secrets }]) => ({
  id: constructIdOf(name),
  secrets,
}));
const actions: Record<SecretsUse, string> = { encrypts: 'kms:Encrypt', decrypts: 'kms:Decrypt' };

describe('the key of secrets', () => {
  it('is rotated every year, can be replicated to other Regions, and remains, unless the stack is ephemeral', () => {
    template.hasResource('AWS::KMS::Key', {
      Properties: { EnableKeyRotation: true, MultiRegion: true },
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    });
    const ephemeral = synthesized({ ephemeral: true }).template;
    ephemeral.hasResource('AWS::KMS::Key', { DeletionPolicy: 'Delete' });
  });

  it('keeps its logical id, because CloudFormation would otherwise create another key', () => {
    expect(Object.keys(resources('AWS::KMS::Key'))).toEqual(['SecretsKey317DCF94']);
  });

  it('can be an existing key, on which the stack grants the rights', () => {
    const secretsKey = 'arn:aws:kms:eu-central-1:123456789012:key/mrk-0123';
    const given = synthesized({ secretsKey });
    given.template.resourceCountIs('AWS::KMS::Key', 0);
    given.template.hasOutput('SecretsKeyArn', { Value: secretsKey });
    for (const { id, secrets } of rows) {
      const allowed = secrets ? [`${actions[secrets]} ${JSON.stringify(secretsKey)}`] : [];
      expect(given.allowedTo(id, 'kms')).toEqual(allowed);
      expect(given.functionOf(id).Environment.Variables.SECRETS_KEY_ID).toBe(secrets && secretsKey);
    }
  });

  it('is in the environment of registrations and rotations, which encrypt, and of the functions that send deliveries, only', () => {
    const own = { 'Fn::GetAtt': [key, 'Arn'] };
    for (const { id, secrets } of rows)
      expect(functionOf(id).Environment.Variables.SECRETS_KEY_ID).toEqual(secrets && own);
    const using = rows.filter(({ secrets }) => secrets).map(({ id, secrets }) => [id, secrets]);
    expect(using).toEqual([
      ['RegisterWebhook', 'encrypts'],
      ['RotateWebhookSecret', 'encrypts'],
      ['TestWebhook', 'decrypts'],
      ['DeliverWebhook', 'decrypts'],
    ]);
  });
});
