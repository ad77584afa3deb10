import { describe, expect, it } from 'vitest';
import {
  ownTypes,
  readDeployedStack,
  rejectOtherData,
  unconfirmedChanges,
  withAllowedModels,
} from '../../../../infra/aws/deployed/deployed-data.ts';
import { isProtected, setStackPolicy } from '../../../../infra/aws/deployed/stack-policy.ts';
import { parseSettings } from '../../../../infra/aws/settings.ts';
import { checkData } from '../../../../infra/cli/preflight/data-checks.ts';
import { type AwsRequest, describedStack, stackResources, useAws, xmlError, xmlResult } from '../../cli/aws.ts';
import { synthesized } from '../synthesized.ts';

const settingsOf = (content: object = {}) => parseSettings(content, 'settings/prod.json', 'prod');
const streamOf = (table: string) => `arn:aws:dynamodb:eu-central-1:123456789012:table/${table}/stream/2026`;
const keyOf = (id: string) => `arn:aws:kms:eu-central-1:123456789012:key/${id}`;

const ownTable = { id: 'GlobalTable1', type: ownTypes.table, name: 'own' };
const ownKey = { id: 'SecretsKey1', type: ownTypes.key, name: 'mrk-own' };
const deployed = { outputs: { TableName: 'own', SecretsKeyArn: keyOf('mrk-own') }, resources: [ownTable, ownKey] };
const onRestored = { ...deployed, outputs: { ...deployed.outputs, TableName: 'restored' } };
const onGivenKey = { outputs: { TableName: 'own', SecretsKeyArn: keyOf('given') }, resources: [ownTable] };
/** A stack of an earlier version, with another type of table and without the output of the key. */
const older = {
  outputs: { TableName: 'older' },
  resources: [{ id: 'Table1', type: 'AWS::DynamoDB::Table', name: 'older' }, ownKey],
};

/** Uses a CloudFormation with this stack. Returns the received requests. */
function useStack({ outputs, resources }: typeof deployed, policy = ''): Promise<AwsRequest[]> {
  const body = policy && `<StackPolicyBody>${policy.replaceAll('"', '&quot;')}</StackPolicyBody>`;
  return useAws({
    'cloudformation:DescribeStacks': () => describedStack(outputs),
    'cloudformation:ListStackResources': stackResources(resources),
    'cloudformation:GetStackPolicy': () => xmlResult('GetStackPolicy', body),
    'cloudformation:SetStackPolicy': () => xmlResult('SetStackPolicy', ''),
  });
}

const useError = (code: string, message: string, status?: number) =>
  useAws({ 'cloudformation:DescribeStacks': () => xmlError(code, message, status) });

describe('a deploy', () => {
  const both = { restoredStream: streamOf('older'), secretsKey: keyOf('mrk-own') };
  it.each([
    ['with the same settings', {}, deployed],
    ['with the restored table that is in use', { restoredStream: streamOf('restored') }, onRestored],
    ['with the key that is in use', { secretsKey: keyOf('given') }, onGivenKey],
    ['with the table and the key of an older stack', both, older],
    ['of a stack without resources', {}, { outputs: {}, resources: [] }],
  ])('%s keeps the table and the key', (_, content, stack) => {
    expect(unconfirmedChanges(settingsOf(content), stack)).toEqual([]);
  });

  it.each([
    ['to a restored table', { restoredStream: streamOf('restored') }, deployed, 'table', 'own', 'restored'],
    ['without the restored table in use', {}, onRestored, 'table', 'restored', 'own'],
    ['over an older stack', { secretsKey: keyOf('mrk-own') }, older, 'table', 'older', 'a new one'],
    ['to another key', { secretsKey: keyOf('other') }, deployed, 'key', 'mrk-own', 'other'],
    ['without the key in use', {}, onGivenKey, 'key', 'given', 'a new one'],
  ])('%s is rejected until the settings confirm the change', (_, content, stack, part, from, to) => {
    const confirm = part === 'table' ? 'replacedTable' : 'replacedKey';
    const [change, ...others] = unconfirmedChanges(settingsOf(content), stack);
    expect(others).toEqual([]);
    expect(change).toContain(`Crewboard-prod uses the ${part} ${from}; this deploy would replace it with ${to}.`);
    expect(change).toContain(`write "${confirm}": "${from}" there`);
    expect(change).toContain('settings/prod.json');
    expect(unconfirmedChanges(settingsOf({ ...content, [confirm]: from }), stack)).toEqual([]);
    expect(unconfirmedChanges(settingsOf({ ...content, [confirm]: 'another' }), stack)).toEqual([change]);
  });

  it('is rejected for such a change, and for a stack that cannot be read', async () => {
    await useStack(onRestored);
    await expect(rejectOtherData(settingsOf())).rejects.toThrow('uses the table restored');
    const kept = settingsOf({ restoredStream: streamOf('restored') });
    expect(await rejectOtherData(kept)).toMatchObject({ outputs: onRestored.outputs });
    await useError('AccessDenied', 'You may not.', 403);
    await expect(rejectOtherData(settingsOf())).rejects.toThrow(
      /^The stack Crewboard-prod cannot be read: You may not\.\n.*cloudformation:ListStackResources/,
    );
  });

  it('of a new stack needs no comparison', async () => {
    await useError('ValidationError', 'Stack x does not exist');
    expect([await readDeployedStack('Crewboard-prod'), await checkData(settingsOf())]).toEqual([undefined, []]);
    await expect(rejectOtherData(settingsOf())).resolves.toBeUndefined();
  });
});

describe('the models that agents may name', () => {
  const stackWith = (outputs: object) => ({ outputs: { TableName: 'own', ...outputs }, resources: [] });

  it.each([
    ['a new stack', undefined, 'default'],
    ['a stack whose first deploy failed', { outputs: {}, resources: [] }, 'default'],
    ['a stack that is limited already', stackWith({ AllowedModels: 'a.model' }), 'default'],
    ['a stack from before', stackWith({}), 'every'],
  ])('are, without the setting, for %s %s', (_, deployed, expected) => {
    expect(withAllowedModels(settingsOf(), deployed as never).allowedModels).toBe(expected);
  });

  it.each([['default'], ['every'], [['a.model']]])('are %j if the setting says so', (allowedModels) => {
    for (const deployed of [undefined, stackWith({}), stackWith({ AllowedModels: 'b' })])
      expect(withAllowedModels(settingsOf({ allowedModels }), deployed as never).allowedModels).toEqual(allowedModels);
  });
});

describe('preflight', () => {
  const report = async (content: object) =>
    (await checkData(settingsOf(content))).map(({ state, what, todo = '' }) => `${state} ${what} ${todo}`);
  const unprotected = /^problem An update can replace[\s\S]* npm run crewboard -- protect --stack Crewboard-prod$/;

  it.each<[string, typeof deployed, object, ...RegExp[]]>([
    ['a change that is not confirmed', onRestored, {}, /^problem Crewboard-prod uses the table restored/, unprotected],
    ['a confirmed change', onRestored, { replacedTable: 'restored' }, /^ok .*keeps/, unprotected],
    ['an ephemeral stack, which needs no stack policy,', deployed, { ephemeral: true }, /^ok .*keeps/],
  ])('reports %s', async (_, stack, content, ...findings) => {
    await useStack(stack);
    expect(await report(content)).toEqual(findings.map((finding) => expect.stringMatching(finding)));
  });

  it('reports a stack that it cannot read as a warning', async () => {
    await useError('AccessDenied', 'You may not.', 403);
    expect(await report({})).toEqual([expect.stringMatching(/^warning .*You may not\./)]);
  });
});

describe('the stack policy', () => {
  it('denies only updates that would replace or delete the table or the key', async () => {
    const asked = await useStack(deployed);
    await setStackPolicy('Crewboard-prod');
    const { body } = asked.at(-1) as (typeof asked)[number];
    expect(body).toMatchObject({ Action: 'SetStackPolicy', StackName: 'Crewboard-prod' });
    const types = ['AWS::DynamoDB::GlobalTable', 'AWS::KMS::Key'];
    const Condition = { StringEquals: { ResourceType: types } };
    const all = { Principal: '*', Resource: '*' };
    expect(JSON.parse(String(body.StackPolicyBody)).Statement).toEqual([
      { Effect: 'Allow', Action: 'Update:*', ...all },
      { Effect: 'Deny', Action: ['Update:Replace', 'Update:Delete'], ...all, Condition },
    ]);
    await useStack(deployed, String(body.StackPolicyBody));
    expect(await isProtected('Crewboard-prod')).toBe(true);
    expect(await checkData(settingsOf())).toContainEqual(
      expect.objectContaining({ state: 'ok', what: expect.stringMatching(/^CloudFormation denies/) }),
    );
  });

  it('does not protect a stack without this denial', async () => {
    const allow = { Effect: 'Allow', Principal: '*', Action: 'Update:*', Resource: '*' };
    await useStack(deployed, JSON.stringify({ Statement: allow }));
    expect(await isProtected('Crewboard-prod')).toBe(false);
  });

  it('names the types of the table and the key, of which the stack creates one each', () => {
    const { template } = synthesized();
    for (const type of Object.values(ownTypes)) template.resourceCountIs(type, 1);
  });
});
