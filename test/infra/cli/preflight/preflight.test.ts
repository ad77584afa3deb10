import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseSettings, type Settings } from '../../../../infra/aws/settings.ts';
import { findAccount, findBootstrap, findStack } from '../../../../infra/cli/preflight/account-checks.ts';
import type { Finding } from '../../../../infra/cli/preflight/finding.ts';
import { askModel, findModel } from '../../../../infra/cli/preflight/model-checks.ts';
import { findConcurrency } from '../../../../infra/cli/preflight/quota-check.ts';
import { findDoubtfulSettings, findSettings } from '../../../../infra/cli/preflight/settings-checks.ts';
import { standardModel } from '../../../../lib/contract/models.ts';
import { newFolder } from '../../../journeys/deployment.ts';
import { type AwsAnswer, startAws, xmlError } from '../aws.ts';

const here = { account: '123456789012', region: 'eu-central-1' };

/** Asks an account that answers so. */
async function ask<Found>(answers: Record<string, AwsAnswer>, find: () => Promise<Found>): Promise<Found> {
  const { shell } = await startAws(Object.fromEntries(Object.entries(answers).map(([name, one]) => [name, () => one])));
  Object.assign(process.env, shell);
  return find();
}

describe('settings', () => {
  const alarmEmail = 'ops@example.com';
  const folder = newFolder();
  const find = (content: object) => {
    writeFileSync(join(folder, 'prod.json'), JSON.stringify(content));
    return findSettings('prod', folder);
  };
  const doubts = (content: object) => findDoubtfulSettings(find(content).settings as Settings);

  it('that can be used are fine', () => {
    const { settings, finding } = find({ alarmEmail });
    expect(settings).toMatchObject({ stage: 'prod', alarmEmail });
    expect(finding).toEqual({ state: 'ok', what: `${folder}/prod.json can be used.` });
  });

  it('that cannot are a problem, all of them at once', () => {
    const { settings, finding } = find({ runningCap: 0, alarmEmail: 'me' });
    expect([settings, finding.state]).toEqual([undefined, 'problem']);
    expect(finding.what).toMatch(/runningCap must be at least 1[\s\S]*alarmEmail must be an e-mail address/);
  });

  it('of a stage without a file are a problem', () => {
    const { settings, finding } = findSettings('prdo', folder);
    expect([settings, finding.state]).toEqual([undefined, 'problem']);
    expect(finding.what).toContain('prdo.json. The stages in');
  });

  it.each([
    [{ ephemeral: true }, /^The stack is ephemeral/],
    [{ emulator: true }, /^The stack is for an emulator/],
    [{ corsOrigins: ['*'] }, /^Pages of every origin/],
    [{ runningCap: 101 }, /^An organization may start 101 executions, but 100 at most/],
    [{ runningCap: 51 }, /^An organization may run 51 executions, more than half of the 100 that run at once/],
    [{ lambdaConcurrency: 10 }, /^An organization may start 50 executions, but 2 at most/],
    [{ alarmEmail: undefined }, /^Nobody is told of alarms/],
  ])('%o are doubted', (content, doubt) => {
    expect(doubts({ alarmEmail, ...content })).toEqual([
      { state: 'warning', what: expect.stringMatching(doubt), todo: expect.stringContaining('settings/prod.json') },
    ]);
  });

  it('does not doubt alarms that go to an existing topic', () => {
    expect(doubts({ alarmTopicArn: 'arn:aws:sns:eu-central-1:111122223333:on-call' })).toEqual([]);
  });

  it.each([{ ephemeral: false }, { emulator: false }, { corsOrigins: ['https://board.example'] }, { runningCap: 50 }])(
    '%o are not',
    (content) => {
      expect(doubts({ alarmEmail, ...content })).toEqual([]);
    },
  );
});

describe('the account', () => {
  const identity = {
    body: `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>123456789012</Account><Arn>arn:me</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`,
  };

  it('is named with its region and whose credentials they are', async () => {
    const { account, finding } = await ask({ 'sts:GetCallerIdentity': identity }, findAccount);
    expect(account).toEqual(here);
    expect(finding).toEqual({ state: 'ok', what: 'Account 123456789012, region eu-central-1, as arn:me.' });
  });

  it('is a problem where AWS refuses the credentials', async () => {
    const refused = xmlError('ExpiredToken', 'The security token has expired', 403);
    const { account, finding } = await ask({ 'sts:GetCallerIdentity': refused }, findAccount);
    expect([account, finding.state, finding.what]).toEqual([
      undefined,
      'problem',
      'AWS does not know this shell: The security token has expired',
    ]);
  });
});

/** A stack as CloudFormation describes it. */
const stack = (status: string, version?: number): AwsAnswer => {
  const output = `<member><OutputKey>BootstrapVersion</OutputKey><OutputValue>${version}</OutputValue></member>`;
  const fields = `<StackStatus>${status}</StackStatus><Outputs>${version === undefined ? '' : output}</Outputs>`;
  return {
    body: `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>${fields}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
  };
};
const absent = xmlError('ValidationError', 'Stack with id x does not exist');
const denied = xmlError('AccessDenied', 'You may not.', 403);

describe('the CDK’s bootstrap', () => {
  it.each([
    ['is there', stack('CREATE_COMPLETE', 6), 'ok', /version 6/],
    ['is too old', stack('CREATE_COMPLETE', 5), 'problem', /of version 5; 6 is needed/],
    ['is missing', absent, 'problem', /not bootstrapped/],
    ['cannot be read', denied, 'warning', /cannot be read: You may not\./],
  ])('%s', async (_, answer, state, what) => {
    const finding = await ask({ 'cloudformation:DescribeStacks': answer }, () => findBootstrap(here));
    expect(finding).toMatchObject({ state, what: expect.stringMatching(what) });
    if (state === 'problem') expect(finding.todo).toBe('npx cdk bootstrap aws://123456789012/eu-central-1');
  });
});

describe('the stack', () => {
  it.each([
    ['is new', absent, 'ok', undefined],
    ['takes an update', stack('UPDATE_COMPLETE'), 'ok', undefined],
    ['took back its last update', stack('UPDATE_ROLLBACK_COMPLETE'), 'ok', undefined],
    ['never came to be', stack('ROLLBACK_COMPLETE'), 'problem', /delete-stack --stack-name Crewboard/],
    ['cannot take back its update', stack('UPDATE_ROLLBACK_FAILED'), 'problem', /continue-update-rollback/],
    ['could not be deleted', stack('DELETE_FAILED'), 'problem', /describe-stack-events/],
    ['is being updated', stack('UPDATE_IN_PROGRESS'), 'problem', /Wait/],
    ['cannot be read', denied, 'warning', /cloudformation:DescribeStacks/],
  ])('%s', async (_, answer, state, todo) => {
    const finding = await ask({ 'cloudformation:DescribeStacks': answer }, () => findStack('Crewboard'));
    expect(finding.state).toBe(state);
    expect(finding.todo).toEqual(todo && expect.stringMatching(todo));
  });
});

describe('the quota of Lambda', () => {
  const action = 'lambda:GET /2016-08-19/account-settings';
  const quota = (ConcurrentExecutions: number): AwsAnswer => ({ body: { AccountLimit: { ConcurrentExecutions } } });
  const find = (answer: AwsAnswer, content: object) =>
    ask({ [action]: answer }, () => findConcurrency(parseSettings(content, 'settings/prod.json', 'prod')));
  const ofNewAccount = { lambdaConcurrency: 10 };

  it.each([
    ['that a stack expects', quota(1000), {}],
    ['that leaves room beside the pipeline', quota(800), {}],
    ['that the settings name', quota(50), { lambdaConcurrency: 50 }],
  ])('%s is fine', async (_, answer, content) => {
    expect((await find(answer, content)).state).toBe('ok');
  });

  it.each([
    ['of a new account', quota(10), {}, 'request-service-quota-increase .* -c stage=small'],
    ['of a new account, though the settings name it,', quota(10), ofNewAccount, 'request-service-quota-increase'],
    ['that is smaller than the settings say', quota(100), {}, 'Set "lambdaConcurrency": 100 in settings/prod.json'],
  ])('%s is a problem for a stack that lasts, and a warning for an ephemeral one', async (_, answer, content, todo) => {
    expect(await find(answer, content)).toMatchObject({
      state: 'problem',
      what: expect.stringMatching(/^Lambda runs only/),
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
  const error = (name: string, status: number): AwsAnswer => ({
    status,
    headers: { 'x-amzn-errortype': name },
    body: { message: `${name} it is` },
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
    ask(
      {
        [`bedrock:GET /inference-profiles/${chosen}`]: known,
        [`bedrock:GET /foundation-models/${model}`]: lifecycle,
        [`bedrock:GET /foundation-model-availability/${model}`]: said,
      },
      () => findModel({ model: chosen, region: 'us-west-2' }),
    );
  const states = async (found: Promise<Finding>) => {
    const { state, what } = await found;
    return `${state}: ${what}`;
  };

  it('can be used, by itself and by a profile, which need not be of its region', async () => {
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
  ])('cannot be used where Bedrock says %o', async (fault, what) => {
    expect(await states(find(profile, isProfile, { body: { ...good, ...fault } }))).toMatch(what);
  });

  it('is a problem where Bedrock knows none of the name, and a doubt where it may not be asked', async () => {
    expect(await states(find(model, unknown, unknown))).toMatch(/^problem: Bedrock in us-west-2 knows no model maker/);
    const may = error('AccessDeniedException', 403);
    expect(await states(find(model, may, { body: good }))).toMatch(/^warning: .* AccessDeniedException it is/);
  });

  it.each([
    ['by itself', model, unknown],
    ['behind a profile', profile, isProfile],
  ])('that is to end is a problem, %s, with the days that Bedrock gives', async (_, chosen, known) => {
    const legacyTime = '2026-05-30T00:00:00Z';
    const modelLifecycle = { status: 'LEGACY', legacyTime, endOfLifeTime: '2026-11-30T00:00:00Z' };
    const legacy = { body: { modelDetails: { modelLifecycle } } };
    const finding = await find(chosen, known, { body: good }, legacy);
    expect(finding.state).toBe('problem');
    expect(finding.what).toBe(
      `The model ${chosen} is in state Legacy since 2026-05-30, and ends on 2026-11-30: accounts that have not used it lately cannot use it.`,
    );
    expect(finding.todo).toContain(`agents move-model --from ${chosen} --to us.${standardModel} --dry-run`);
  });

  it('of Anthropic that is not ready needs the use-case form, and of any maker a subscription', async () => {
    const anthropic = {
      body: { models: [{ modelArn: `arn:aws:bedrock:us-west-2::foundation-model/${standardModel}` }] },
    };
    const lacking = { body: { ...good, agreementAvailability: { status: 'NOT_AVAILABLE' } } };
    const finding = await ask(
      {
        [`bedrock:GET /inference-profiles/us.${standardModel}`]: anthropic,
        [`bedrock:GET /foundation-models/${standardModel}`]: active,
        [`bedrock:GET /foundation-model-availability/${standardModel}`]: lacking,
      },
      () => findModel({ model: `us.${standardModel}`, region: 'us-west-2' }),
    );
    expect(finding.todo).toMatch(/use-case form of Anthropic.*aws-marketplace:Subscribe/);
    const other = await find(profile, isProfile, lacking);
    expect(other.todo).toMatch(/^The first call .*aws-marketplace:Subscribe/);
  });

  describe('that is asked', () => {
    const action = (of: string) => `bedrock:POST /model/${of}/converse`;
    const choice = { model, region: 'us-west-2' };
    const says = (text: string) => ({
      body: { output: { message: { role: 'assistant', content: [{ text }] } }, stopReason: 'end_turn' },
    });
    const refusal = (name: string, message: string, status: number): AwsAnswer => ({
      status,
      headers: { 'x-amzn-errortype': name },
      body: { message },
    });

    it('is asked once, as the functions ask it', async () => {
      const { shell, asked } = await startAws({
        [action(model)]: () => says('Yes.'),
        [action(standardModel)]: () => says('Yes.'),
      });
      Object.assign(process.env, shell);
      expect(await askModel(choice)).toEqual({ state: 'ok', what: `The model ${model} answers in us-west-2.` });
      expect((await askModel({ ...choice, model: standardModel })).state).toBe('ok');
      expect(asked.map(({ body }) => [body.inferenceConfig, body.outputConfig])).toEqual([
        [{ maxTokens: 16 }, undefined],
        [{ maxTokens: 16 + 16_384 }, { effort: 'low' }],
      ]);
    });

    // The messages are those of Bedrock.
    it.each([
      [
        refusal(
          'ResourceNotFoundException',
          'Model use case details have not been submitted for this account. Fill out the Anthropic use case details form before using the model. If you have already filled out the form, try again in 15 minutes.',
          404,
        ),
        /^Submit the use-case form of Anthropic/,
      ],
      [
        refusal('ValidationException', 'You have not filled out the required use-case form for this model.', 400),
        /^Submit the use-case form of Anthropic/,
      ],
      [
        refusal(
          'AccessDeniedException',
          'Model access is denied due to IAM user or service role is not authorized to perform the required AWS Marketplace actions (aws-marketplace:ViewSubscriptions, aws-marketplace:Subscribe) to enable access to this model.',
          403,
        ),
        /credentials that have aws-marketplace:Subscribe/,
      ],
      [
        refusal('AccessDeniedException', 'Model access is denied due to INVALID_PAYMENT_INSTRUMENT.', 403),
        /payment method/,
      ],
      [refusal('AccessDeniedException', 'You may not.', 403), /^Executions would fail for the same reason\.$/],
    ])('and answers %o is a problem, with what to do', async (answer, todo) => {
      const finding = await ask({ [action(model)]: answer }, () => askModel(choice));
      expect(finding.state).toBe('problem');
      expect(finding.what).toContain((answer.body as { message: string }).message);
      expect(finding.todo).toMatch(todo);
    });
  });
});
