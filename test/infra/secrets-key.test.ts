import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { type Consumer, consumers } from '../../lib/contract/consumers.ts';
import type { SecretsUse } from '../../lib/contract/endpoint.ts';
import { routes } from '../../lib/contract/endpoints.ts';
import { stackOf, synthesized } from './synthesized.ts';

const { template, resources, functionOf, allowedTo } = synthesized();
const [key = ''] = Object.keys(resources('AWS::KMS::Key'));
const rows = [...routes, ...Object.entries(consumers as Record<string, Consumer>)].map(([name, { secrets }]) => ({
  id: name.replace(/^./, (letter) => letter.toUpperCase()),
  secrets,
}));
const actions: Record<SecretsUse, string> = { seals: 'kms:Encrypt', opens: 'kms:Decrypt' };

describe('the key of secrets', () => {
  it('is renewed every year, and outlives the stack', () => {
    template.resourceCountIs('AWS::KMS::Key', 1);
    template.hasResource('AWS::KMS::Key', { Properties: { EnableKeyRotation: true }, DeletionPolicy: 'Retain' });
  });

  it('goes with a stack that is thrown away', () => {
    const thrownAway = Template.fromStack(stackOf(undefined, { ephemeral: true }));
    thrownAway.hasResource('AWS::KMS::Key', { DeletionPolicy: 'Delete' });
  });

  it.each(rows.filter(({ secrets }) => secrets))('lets $id do what it does with secrets, and that only', (row) => {
    const allowed = `${actions[row.secrets as SecretsUse]} {"Fn::GetAtt":["${key}","Arn"]}`;
    expect(allowedTo(row.id, 'kms')).toEqual([allowed]);
    expect(functionOf(row.id).Environment.Variables.SECRETS_KEY_ID).toEqual({ 'Fn::GetAtt': [key, 'Arn'] });
  });

  it.each(rows.filter(({ secrets }) => !secrets))('is nothing to $id', ({ id }) => {
    expect(allowedTo(id, 'kms')).toEqual([]);
    expect(functionOf(id).Environment.Variables).not.toHaveProperty('SECRETS_KEY_ID');
  });

  it('seals for registrations, and opens for whoever posts', () => {
    const using = rows.filter(({ secrets }) => secrets).map(({ id, secrets }) => [id, secrets]);
    expect(using).toEqual([
      ['RegisterWebhook', 'seals'],
      ['TestWebhook', 'opens'],
      ['DeliverWebhook', 'opens'],
    ]);
  });
});
