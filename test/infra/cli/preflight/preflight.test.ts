import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseSettings, type Settings } from '../../../../infra/aws/settings.ts';
import { checkAccount, checkBootstrap, checkStack } from '../../../../infra/cli/preflight/account-checks.ts';
import type { Finding } from '../../../../infra/cli/preflight/finding.ts';
import { callModel, checkModel } from '../../../../infra/cli/preflight/model-checks.ts';
import { checkConcurrency } from '../../../../infra/cli/preflight/quota-check.ts';
import { checkSettingsFile, settingsWarnings } from '../../../../infra/cli/preflight/settings-checks.ts';
import { standardModel } from '../../../../lib/contract/models.ts';
import { newFolder } from '../../../journeys/deployment.ts';
import { type AwsAnswer, describedStack, startAws, xmlError } from '../aws.ts';

const here = { account: '123456789012', region: 'eu-central-1' };

/** Runs a check in an account of AWS with these answers. */
async function withAnswers<Found>(answers: Record<string, AwsAnswer>, check: () => Promise<Found>): Promise<Found> {
  const { shell } = await startAws(Object.fromEntries(Object.entries(answers).map(([name, one]) => [name, () => one])));
  Object.assign(process.env, shell);
  return check();
}

describe('settings', () => {
  const alarmEmail = 'ops@example.com';
  const alarmTopicArn = 'arn:aws:sns:eu-central-1:111122223333:on-call';
  const folder = newFolder();
  const check = (content: object) => {
    writeFileSync(join(folder, 'prod.json'), JSON.stringify(content));
    return checkSettingsFile('prod', folder);
  };
  const warnings = (content: object) => settingsWarnings(check(content).settings as Settings);

  it('that are valid are ok', () => {
    const { settings, finding } = check({ alarmEmail });
    expect(settings).toMatchObject({ stage: 'prod', alarmEmail });
    expect(finding).toEqual({ state: 'ok', what: `${folder}/prod.json is valid.` });
  });

  it('that are invalid are a problem that lists all errors', () => {
    const { settings, finding } = check({ runningCap: 0, alarmEmail: 'me' });
    expect([settings, finding.state]).toEqual([undefined, 'problem']);
    expect(finding.what).toMatch(/runningCap must be at least 1[\s\S]*alarmEmail must be an email address/);
  });

  it.each([
    [{ ephemeral: true }, /^The stack is ephemeral/],
    [{ emulator: true }, /^The stack is for an emulator/],
    [{ corsOrigins: ['*'] }, /^Web pages of every origin/],
    [{ runningCap: 101 }, /^An organization may start 101 executions, but at most 100/],
    [{ runningCap: 51 }, /^An organization may run 51 executions, more than half of the 100 that run at once/],
    [{ lambdaConcurrency: 10 }, /^An organization may start 50 executions, but at most 2/],
    [{ alarmEmail: undefined }, /^Alarms have no receiver/],
  ])('%o cause a warning', (content, warning) => {
    expect(warnings({ alarmEmail, ...content })).toEqual([
      { state: 'warning', what: expect.stringMatching(warning), todo: expect.stringContaining('settings/prod.json') },
    ]);
  });

  it.each([{ corsOrigins: ['https://board.example'] }, { runningCap: 50 }, { alarmEmail: undefined, alarmTopicArn }])(
    '%o cause no warning',
    (content) => {
      expect(warnings({ alarmEmail, ...content })).toEqual([]);
    },
  );
});

describe('the account', () => {
  const identity = {
    body: `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>123456789012</Account><Arn>arn:me</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`,
  };

  it('is reported with its region and the identity of the credentials', async () => {
    const { account, finding } = await withAnswers({ 'sts:GetCallerIdentity': identity }, checkAccount);
    expect(account).toEqual(here);
    expect(finding).toEqual({ state: 'ok', what: 'Account 123456789012, region eu-central-1, as arn:me.' });
  });

  it('is a problem if AWS rejects the credentials', async () => {
    const refused = xmlError('ExpiredToken', 'The security token has expired', 403);
    const { account, finding } = await withAnswers({ 'sts:GetCallerIdentity': refused }, checkAccount);
    expect([account, finding.state, finding.what]).toEqual([
      undefined,
      'problem',
      'AWS does not accept the credentials of this shell: The security token has expired',
    ]);
  });
});

/** Returns the answer of CloudFormation for a stack, with the version of its bootstrap. */
const stack = (status: string, version?: number) =>
  describedStack(version === undefined ? {} : { BootstrapVersion: String(version) }, status);
const absent = xmlError('ValidationError', 'Stack with id x does not exist');
const denied = xmlError('AccessDenied', 'You may not.', 403);

describe('the bootstrap of the CDK', () => {
  it.each([
    ['exists', stack('CREATE_COMPLETE', 6), 'ok', /version 6/],
    ['is too old', stack('CREATE_COMPLETE', 5), 'problem', /has version 5; version 6 or later is needed/],
    ['is missing', absent, 'problem', /not bootstrapped/],
    ['cannot be read', denied, 'warning', /cannot be read: You may not\./],
  ])('%s', async (_, answer, state, what) => {
    const finding = await withAnswers({ 'cloudformation:DescribeStacks': answer }, () => checkBootstrap(here));
    expect(finding).toMatchObject({ state, what: expect.stringMatching(what) });
    if (state === 'problem') expect(finding.todo).toBe('npx cdk bootstrap aws://123456789012/eu-central-1');
  });
});

describe('the stack', () => {
  it.each([
    ['is new', absent, 'ok', undefined],
    ['can be updated', stack('UPDATE_COMPLETE'), 'ok', undefined],
    ['rolled back its last update', stack('UPDATE_ROLLBACK_COMPLETE'), 'ok', undefined],
    ['could not be created', stack('ROLLBACK_COMPLETE'), 'problem', /delete-stack --stack-name Crewboard/],
    ['cannot roll back its update', stack('UPDATE_ROLLBACK_FAILED'), 'problem', /continue-update-rollback/],
    ['could not be deleted', stack('DELETE_FAILED'), 'problem', /describe-stack-events/],
    ['is being updated', stack('UPDATE_IN_PROGRESS'), 'problem', /Wait/],
    ['cannot be read', denied, 'warning', /cloudformation:DescribeStacks/],
  ])('%s', async (_, answer, state, todo) => {
    const finding = await withAnswers({ 'cloudformation:DescribeStacks': answer }, () => checkStack('Crewboard'));
    expect(finding.state).toBe(state);
    expect(finding.todo).toEqual(todo && expect.stringMatching(todo));
  });
});

describe('the quota of Lambda', () => {
  const action = 'lambda:GET /2016-08-19/account-settings';
  const quota = (ConcurrentExecutions: number): AwsAnswer => ({ body: { AccountLimit: { ConcurrentExecutions } } });
  const find = (answer: AwsAnswer, content: object) =>
    withAnswers({ [action]: answer }, () => checkConcurrency(parseSettings(content, 'settings/prod.json', 'prod')));
  const newAccount = { lambdaConcurrency: 10 };

  it.each([
    ['of the default settings', quota(1000), {}],
    ['of the settings', quota(50), { lambdaConcurrency: 50 }],
  ])('%s is ok', async (_, answer, content) => {
    expect((await find(answer, content)).state).toBe('ok');
  });

  it.each([
    ['of a new account', quota(10), {}, 'request-service-quota-increase .* -c stage=small'],
    ['of a new account, also if it is that of the settings,', quota(10), newAccount, 'request-service-quota-increase'],
    ['below that of the settings', quota(100), {}, 'Set "lambdaConcurrency": 100 in settings/prod.json'],
  ])('%s is a problem for a permanent stack, and a warning for an ephemeral one', async (_, answer, content, todo) => {
    expect(await find(answer, content)).toMatchObject({
      state: 'problem',
      what: expect.stringMatching(/^The quota of Lambda is only/),
      todo: expect.stringMatching(todo),
    });
    expect((await find(answer, { ...content, ephemeral: true })).state).toBe('warning');
  });

  it('that cannot be read is a warning', async () => {
    expect(await find({ status: 403, body: { message: 'No.' } }, {})).toMatchObject({
      state: 'warning',
      todo: 'This check needs lambda:GetAccountSettings.',
    });
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
  const isProfile = { body: { models: [{ modelArn: `arn:aws:bedrock:eu-central-1::foundation-model/${model}` }] } };
  const good = {
    authorizationStatus: 'AUTHORIZED',
    entitlementAvailability: 'AVAILABLE',
    regionAvailability: 'AVAILABLE',
    agreementAvailability: { status: 'AVAILABLE' },
  };
  const active: AwsAnswer = { body: { modelDetails: { modelLifecycle: { status: 'ACTIVE' } } } };
  const find = (chosen: string, known: AwsAnswer, said: AwsAnswer, lifecycle = active) =>
    withAnswers(
      {
        [`bedrock:GET /inference-profiles/${chosen}`]: known,
        [`bedrock:GET /foundation-models/${model}`]: lifecycle,
        [`bedrock:GET /foundation-model-availability/${model}`]: said,
      },
      () => checkModel({ model: chosen, region: 'us-west-2' }),
    );
  const states = async (found: Promise<Finding>) => {
    const { state, what } = await found;
    return `${state}: ${what}`;
  };

  it('can be used directly in its region, or through a profile in any region', async () => {
    expect(await states(find(model, unknown, { body: good }))).toMatch(/^ok: Bedrock in us-west-2 offers/);
    const elsewhere = { ...good, regionAvailability: 'NOT_AVAILABLE' };
    expect(await states(find(profile, isProfile, { body: elsewhere }))).toMatch(/^ok: /);
    expect(await states(find(model, unknown, { body: elsewhere }))).toMatch(
      /^problem: .* it is not offered in us-west-2/,
    );
  });

  it.each([
    [{ authorizationStatus: 'NOT_AUTHORIZED' }, /^problem: .*: it is not authorized\./],
    [{ entitlementAvailability: 'NOT_AVAILABLE' }, /^problem: .*: the account is not entitled to it\./],
    [{ agreementAvailability: { status: 'NOT_AVAILABLE' } }, /^problem: .*: its agreement is not accepted\./],
  ])('cannot be used if Bedrock returns %o', async (fault, what) => {
    expect(await states(find(profile, isProfile, { body: { ...good, ...fault } }))).toMatch(what);
  });

  it('is a problem if Bedrock does not have it, and a warning without the right to read it', async () => {
    expect(await states(find(model, unknown, unknown))).toMatch(
      /^problem: Bedrock in us-west-2 does not have the model maker/,
    );
    const may = error('AccessDeniedException', 403);
    expect(await states(find(model, may, { body: good }))).toMatch(/^warning: .* The error is AccessDeniedException/);
  });

  it.each([
    ['used directly', model, unknown],
    ['used through a profile', profile, isProfile],
  ])('in state Legacy is a problem, %s, with the dates of Bedrock', async (_, chosen, known) => {
    const legacyTime = '2026-05-30T00:00:00Z';
    const modelLifecycle = { status: 'LEGACY', legacyTime, endOfLifeTime: '2026-11-30T00:00:00Z' };
    const legacy = { body: { modelDetails: { modelLifecycle } } };
    const finding = await find(chosen, known, { body: good }, legacy);
    expect(finding.state).toBe('problem');
    expect(finding.what).toBe(
      `The model ${chosen} is in state Legacy since 2026-05-30 and ends on 2026-11-30. Accounts that have not used it recently cannot use it.`,
    );
    expect(finding.todo).toContain(`agents move-model --from ${chosen} --to us.${standardModel} --dry-run`);
  });

  it('that is not available needs a subscription, and the use-case form if it is of Anthropic', async () => {
    const anthropic = {
      body: { models: [{ modelArn: `arn:aws:bedrock:us-west-2::foundation-model/${standardModel}` }] },
    };
    const lacking = { body: { ...good, agreementAvailability: { status: 'NOT_AVAILABLE' } } };
    const finding = await withAnswers(
      {
        [`bedrock:GET /inference-profiles/us.${standardModel}`]: anthropic,
        [`bedrock:GET /foundation-models/${standardModel}`]: active,
        [`bedrock:GET /foundation-model-availability/${standardModel}`]: lacking,
      },
      () => checkModel({ model: `us.${standardModel}`, region: 'us-west-2' }),
    );
    expect(finding.todo).toMatch(/use-case form of Anthropic.*aws-marketplace:Subscribe/);
    const other = await find(profile, isProfile, lacking);
    expect(other.todo).toMatch(/^The first call .*aws-marketplace:Subscribe/);
  });

  describe('that is called', () => {
    const action = (of: string) => `bedrock:POST /model/${of}/converse`;
    const choice = { model, region: 'us-west-2' };
    const answers = (text: string) => ({
      body: { output: { message: { role: 'assistant', content: [{ text }] } }, stopReason: 'end_turn' },
    });

    it('is called once, with the parameters of the functions', async () => {
      const { shell, asked } = await startAws({
        [action(model)]: () => answers('Yes.'),
        [action(standardModel)]: () => answers('Yes.'),
      });
      Object.assign(process.env, shell);
      expect(await callModel(choice)).toEqual({ state: 'ok', what: `The model ${model} answers in us-west-2.` });
      expect((await callModel({ ...choice, model: standardModel })).state).toBe('ok');
      expect(asked.map(({ body }) => [body.inferenceConfig, body.outputConfig])).toEqual([
        [{ maxTokens: 16 }, undefined],
        [{ maxTokens: 16 + 16_384 }, { effort: 'low' }],
      ]);
    });

    // These are messages of Bedrock.
    it.each([
      [
        'ResourceNotFoundException',
        404,
        'Model use case details have not been submitted for this account. Fill out the Anthropic use case details form before using the model. If you have already filled out the form, try again in 15 minutes.',
        /^Submit the use-case form/,
      ],
      [
        'ValidationException',
        400,
        'You have not filled out the required use-case form for this model.',
        /^Submit the use-case form/,
      ],
      [
        'AccessDeniedException',
        403,
        'Model access is denied due to IAM user or service role is not authorized to perform the required AWS Marketplace actions (aws-marketplace:ViewSubscriptions, aws-marketplace:Subscribe) to enable access to this model.',
        /credentials that have aws-marketplace:Subscribe/,
      ],
      ['AccessDeniedException', 403, 'Model access is denied due to INVALID_PAYMENT_INSTRUMENT.', /payment method/],
      ['AccessDeniedException', 403, 'You may not.', /^Executions would fail for the same reason\.$/],
    ])('and returns %s (%i: %s) is a problem, with what to do', async (name, status, message, todo) => {
      const answer = error(name, status, message);
      const finding = await withAnswers({ [action(model)]: answer }, () => callModel(choice));
      expect(finding.state).toBe('problem');
      expect(finding.what).toContain(message);
      expect(finding.todo).toMatch(todo);
    });
  });
});
