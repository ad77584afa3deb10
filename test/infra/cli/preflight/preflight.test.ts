import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type DeploySettings, parseSettings } from '../../../../infra/aws/settings.ts';
import { checkAccount, checkBootstrap, checkStack } from '../../../../infra/cli/preflight/account-checks.ts';
import { callModel, checkModel } from '../../../../infra/cli/preflight/model-checks.ts';
import { checkConcurrency } from '../../../../infra/cli/preflight/quota-check.ts';
import { checkSettingsFile, settingsWarnings } from '../../../../infra/cli/preflight/settings-checks.ts';
import { standardModel } from '../../../../lib/contract/agents/models.ts';
import { newFolder } from '../../../journeys/deployment.ts';
import { type AwsAnswer, describedStack, useAws, xmlError, xmlResult } from '../aws.ts';

const here = { account: '123456789012', region: 'eu-central-1', partition: 'aws' };

async function withAnswers<Found>(answers: Record<string, AwsAnswer>, check: () => Promise<Found>): Promise<Found> {
  await useAws(Object.fromEntries(Object.entries(answers).map(([name, one]) => [name, () => one])));
  return check();
}

describe('settings', () => {
  const alarmEmail = 'ops@example.com';
  const folder = newFolder();
  const check = (content: object) => {
    writeFileSync(join(folder, 'prod.json'), JSON.stringify(content));
    return checkSettingsFile('prod', folder);
  };

  it('that are valid are ok, and all errors of others are a problem', () => {
    const finding = { state: 'ok', what: `${folder}/prod.json is valid.` };
    expect(check({ alarmEmail })).toMatchObject({ settings: { stage: 'prod', alarmEmail }, finding });
    const what = expect.stringMatching(/runningCap must be at least 1[\s\S]*alarmEmail must be an email address/);
    expect(check({ runningCap: 0, alarmEmail: 'me' })).toMatchObject({ finding: { state: 'problem', what } });
  });

  it.each<[object, RegExp?]>([
    [{ ephemeral: true }, /^The stack is ephemeral/],
    [{ emulator: true }, /^The stack is for an emulator/],
    [{ corsOrigins: ['*'] }, /^Web pages of every origin/],
    [{ runningCap: 101 }, /^An organization may start 101 executions, but at most 100/],
    [{ runningCap: 51 }, /^An organization may run 51 executions, more than half of the 100 that run at once/],
    [{ lambdaConcurrency: 10 }, /^An organization may start 50 executions, but at most 2/],
    [{ alarmEmail: undefined }, /^Alarms have no receiver/],
    [{ dailyTokens: undefined }, /^No organization has a budget of tokens/],
    [{ corsOrigins: ['https://board.example'] }],
    [{ runningCap: 50 }],
    [{ alarmEmail: undefined, alarmTopicArn: 'arn:aws:sns:eu-central-1:111122223333:on-call' }],
  ])('%o cause this warning, if any: %s', (content, warning) => {
    const todo = expect.stringContaining('settings/prod.json');
    const expected = warning ? [{ state: 'warning', what: expect.stringMatching(warning), todo }] : [];
    expect(settingsWarnings(check({ alarmEmail, dailyTokens: 1, ...content }).settings as DeploySettings)).toEqual(
      expected,
    );
  });
});

it.each([
  [
    'is reported with its region and the identity of the credentials',
    xmlResult('GetCallerIdentity', '<Account>123456789012</Account><Arn>arn:aws:iam::123456789012:user/me</Arn>'),
    {
      account: here,
      finding: {
        state: 'ok',
        what: 'Account 123456789012, region eu-central-1, as arn:aws:iam::123456789012:user/me.',
      },
    },
  ],
  [
    'is a problem if AWS rejects the credentials',
    xmlError('ExpiredToken', 'It has expired', 403),
    { finding: { state: 'problem', what: 'AWS does not accept the credentials of this shell: It has expired' } },
  ],
])('the account %s', async (_, answer, found) => {
  expect(await withAnswers({ 'sts:GetCallerIdentity': answer }, checkAccount)).toMatchObject(found);
});

/** Returns the answer of CloudFormation for a stack, with the version of its bootstrap. */
const stack = (status: string, version?: number) =>
  describedStack(version === undefined ? {} : { BootstrapVersion: String(version) }, status);
const absent = xmlError('ValidationError', 'Stack with id x does not exist');
const denied = xmlError('AccessDenied', 'You may not.', 403);

const todo = 'npx cdk bootstrap aws://123456789012/eu-central-1';
it.each([
  ['exists', stack('CREATE_COMPLETE', 6), { state: 'ok' }, /version 6/],
  ['is too old', stack('CREATE_COMPLETE', 5), { state: 'problem', todo }, /version 5; version 6 or later is needed/],
  ['is missing', absent, { state: 'problem', todo }, /not bootstrapped/],
  ['cannot be read', denied, { state: 'warning' }, /cannot be read: You may not\./],
])('the bootstrap of the CDK %s', async (_, answer, found, what) => {
  const finding = await withAnswers({ 'cloudformation:DescribeStacks': answer }, () => checkBootstrap(here));
  expect(finding).toMatchObject({ ...found, what: expect.stringMatching(what) });
});

it.each([
  ['is new', absent, 'ok', undefined],
  ['can be updated', stack('UPDATE_COMPLETE'), 'ok', undefined],
  ['rolled back its last update', stack('UPDATE_ROLLBACK_COMPLETE'), 'ok', undefined],
  ['could not be created', stack('ROLLBACK_COMPLETE'), 'problem', /delete-stack --stack-name Crewboard/],
  ['cannot roll back its update', stack('UPDATE_ROLLBACK_FAILED'), 'problem', /continue-update-rollback/],
  ['could not be deleted', stack('DELETE_FAILED'), 'problem', /describe-stack-events/],
  ['is being updated', stack('UPDATE_IN_PROGRESS'), 'problem', /Wait/],
  ['cannot be read', denied, 'warning', /cloudformation:DescribeStacks/],
])('the stack %s', async (_, answer, state, todo) => {
  const finding = await withAnswers({ 'cloudformation:DescribeStacks': answer }, () => checkStack('Crewboard'));
  expect([finding.state, finding.todo]).toEqual([state, todo && expect.stringMatching(todo)]);
});

describe('the quota of Lambda', () => {
  const action = 'lambda:GET /2016-08-19/account-settings';
  const quota = (ConcurrentExecutions: number): AwsAnswer => ({ body: { AccountLimit: { ConcurrentExecutions } } });
  const find = (answer: AwsAnswer, content: object) =>
    withAnswers({ [action]: answer }, () => checkConcurrency(parseSettings(content, 'settings/prod.json', 'prod')));

  it('is ok if it is that of the settings, and a warning if it cannot be read', async () => {
    expect(await find(quota(1000), {})).toMatchObject({ state: 'ok' });
    expect(await find(quota(50), { lambdaConcurrency: 50 })).toMatchObject({ state: 'ok' });
    const todo = 'This check needs lambda:GetAccountSettings.';
    expect(await find({ status: 403, body: { message: 'No.' } }, {})).toMatchObject({ state: 'warning', todo });
  });

  const increase = 'request-service-quota-increase';
  it.each([
    ['of a new account', 10, {}, `${increase} .* -c stage=small`],
    ['of a new account, also if it is that of the settings,', 10, { lambdaConcurrency: 10 }, increase],
    ['below that of the settings', 100, {}, 'Set "lambdaConcurrency": 100 in settings/prod.json'],
  ])('%s is a problem for a permanent stack, and a warning for an ephemeral one', async (_, count, content, todo) => {
    const what = expect.stringMatching(/^The quota of Lambda is only/);
    expect(await find(quota(count), content)).toEqual({ state: 'problem', what, todo: expect.stringMatching(todo) });
    expect((await find(quota(count), { ...content, ephemeral: true })).state).toBe('warning');
  });
});

describe('the model', () => {
  const profile = 'global.maker.model-v1';
  const model = 'maker.model-v1';
  const error = (name: string, status: number, message = `The error is ${name}`): AwsAnswer => ({
    status,
    headers: { 'x-amzn-errortype': name },
    body: { message },
  });
  const unknown = error('ValidationException', 400);
  const profileOf = (id: string): AwsAnswer => ({
    body: { models: [{ modelArn: `arn:aws:bedrock:eu-central-1::foundation-model/${id}` }] },
  });
  const available = {
    ...{ authorizationStatus: 'AUTHORIZED', entitlementAvailability: 'AVAILABLE', regionAvailability: 'AVAILABLE' },
    agreementAvailability: { status: 'AVAILABLE' },
  };
  const elsewhere = { regionAvailability: 'NOT_AVAILABLE' };
  const noAgreement = { agreementAvailability: { status: 'NOT_AVAILABLE' } };
  type Bedrock = { chosen: string; known: AwsAnswer; said: object; lifecycle: object };
  const profiled = { chosen: profile, known: profileOf(model) };
  const ofAnthropic = { chosen: `us.${standardModel}`, known: profileOf(standardModel) };

  /** Returns the finding for a model, or for a profile of a model, about which Bedrock says this. */
  const find = ({ chosen = model, known = unknown, said = {}, lifecycle = { status: 'ACTIVE' } }: Partial<Bedrock>) => {
    const id = chosen.replace(/^(global|us)\./, '');
    const answers = {
      [`bedrock:GET /inference-profiles/${chosen}`]: known,
      [`bedrock:GET /foundation-models/${id}`]: { body: { modelDetails: { modelLifecycle: lifecycle } } },
      [`bedrock:GET /foundation-model-availability/${id}`]:
        'status' in said ? (said as AwsAnswer) : { body: { ...available, ...said } },
    };
    return withAnswers(answers, () => checkModel({ model: chosen, region: 'us-west-2' }));
  };

  it.each<[Partial<Bedrock>, RegExp]>([
    [{}, /^ok: Bedrock in us-west-2 offers/],
    [{ ...profiled, said: elsewhere }, /^ok: /],
    [{ said: elsewhere }, /^problem: .* it is not offered in us-west-2/],
    [{ ...profiled, said: { authorizationStatus: 'NOT_AUTHORIZED' } }, /^problem: .*: it is not authorized\./],
    [{ ...profiled, said: { entitlementAvailability: 'NO' } }, /^problem: .*: the account is not entitled to it\./],
    [
      { ...profiled, said: noAgreement },
      /^problem: .*: its agreement is not accepted\..* \| The first call .*aws-marketplace:Subscribe/,
    ],
    [{ ...ofAnthropic, said: noAgreement }, /^problem: .* \| .*use-case form of Anthropic.*aws-marketplace:Subscribe/],
    [{ said: unknown }, /^problem: Bedrock in us-west-2 does not have the model maker/],
    [{ known: error('AccessDeniedException', 403) }, /^warning: .* The error is AccessDeniedException/],
  ])('about which Bedrock says %j is reported with what to do: %s', async (bedrock, expected) => {
    const { state, what, todo } = await find(bedrock);
    expect(`${state}: ${what} | ${todo}`.replaceAll('\n', ' ')).toMatch(expected);
  });

  it.each([
    ['used directly', { chosen: model }],
    ['used through a profile', profiled],
  ])('in state Legacy is a problem, %s, with the dates of Bedrock', async (_, used) => {
    const dates = { legacyTime: '2026-05-30T00:00:00Z', endOfLifeTime: '2026-11-30T00:00:00Z' };
    expect(await find({ ...used, lifecycle: { status: 'LEGACY', ...dates } })).toEqual({
      state: 'problem',
      what: `The model ${used.chosen} is in state Legacy since 2026-05-30 and ends on 2026-11-30. Accounts that have not used it recently cannot use it.`,
      todo: expect.stringContaining(`agents move-model --from ${used.chosen} --to us.${standardModel} --dry-run`),
    });
  });

  const converse = (of: string) => `bedrock:POST /model/${of}/converse`;
  const choice = { model, region: 'us-west-2' };

  it('is called once, with the parameters of the functions', async () => {
    const message = { role: 'assistant', content: [{ text: 'Yes.' }] };
    const yes = () => ({ body: { output: { message }, stopReason: 'end_turn' } });
    const asked = await useAws({ [converse(model)]: yes, [converse(standardModel)]: yes });
    expect(await callModel(choice)).toEqual({ state: 'ok', what: `The model ${model} answers in us-west-2.` });
    expect((await callModel({ ...choice, model: standardModel })).state).toBe('ok');
    expect(asked.map(({ body }) => [body.inferenceConfig, body.outputConfig])).toEqual([
      [{ maxTokens: 16 }, undefined],
      [{ maxTokens: 16 + 2_048 }, { effort: 'low' }],
    ]);
  });

  // These are the beginnings of messages of Bedrock.
  const form = /^Submit the use-case form/;
  it.each([
    ['ResourceNotFoundException', 'Model use case details have not been submitted for this account.', form],
    ['ValidationException', 'You have not filled out the required use-case form for this model.', form],
    [
      'AccessDeniedException',
      'Model access is denied due to IAM user or service role is not authorized to perform the required AWS Marketplace actions (aws-marketplace:ViewSubscriptions, aws-marketplace:Subscribe)',
      /credentials that have aws-marketplace:Subscribe/,
    ],
    ['AccessDeniedException', 'Model access is denied due to INVALID_PAYMENT_INSTRUMENT.', /payment method/],
    ['AccessDeniedException', 'You may not.', /^Executions would fail for the same reason\.$/],
  ])('that answers a call with %s (%s) is a problem, with what to do', async (name, message, todo) => {
    const finding = await withAnswers({ [converse(model)]: error(name, 400, message) }, () => callModel(choice));
    const what = expect.stringContaining(message);
    expect(finding).toEqual({ state: 'problem', what, todo: expect.stringMatching(todo) });
  });
});
