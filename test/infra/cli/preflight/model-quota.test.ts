import { expect, it } from 'vitest';
import { parseSettings } from '../../../../infra/aws/settings.ts';
import { checkModels } from '../../../../infra/cli/preflight/model-checks.ts';
import { checkModelQuota } from '../../../../infra/cli/preflight/model-quota.ts';
import { geographicProfiles, globalProfile, standardModel } from '../../../../lib/contract/agents/models.ts';
import { type Answers, type AwsAnswer, useAws } from '../aws.ts';

const [inAmerica = ''] = geographicProfiles;
const region = 'us-east-1';

/** A quota as Service Quotas returns it. */
const quota = (QuotaName: string, Value: number, QuotaCode = 'L-ABCDEF12') => ({
  ...{ ServiceCode: 'bedrock', ServiceName: 'Amazon Bedrock', QuotaCode, QuotaName, Value, Unit: 'None' },
  ...{
    QuotaArn: `arn:aws:servicequotas:${region}:123456789012:bedrock/${QuotaCode}`,
    Adjustable: true,
    GlobalQuota: false,
  },
  QuotaAppliedAtLevel: 'ACCOUNT',
});
const perMinute = (kind: string, model = 'Anthropic Claude Sonnet 5.5') =>
  `${kind} model inference tokens per minute for ${model}`;

/** Quotas that must not be taken for the quota of the model: of other kinds, units, models and versions. */
const others = [
  quota('Cross-region model inference requests per minute for Anthropic Claude Sonnet 5.5', 10_000),
  quota(perMinute('Cross-region', 'Anthropic Claude Sonnet 5'), 1),
  quota(perMinute('Cross-region', 'Anthropic Claude Sonnet 5.5 1M Context Length'), 2),
  quota(perMinute('On-demand'), 3),
  quota('Model invocation max tokens per day for Anthropic Claude Sonnet 5.5 (doubled for cross-region calls)', 4),
];

/** The answers of AWS with these quotas, one a page. */
function answersWith(applied: object[], defaults: object[] = []): Answers {
  const pagesOf =
    (quotas: object[]) =>
    ({ body }: { body: Record<string, unknown> }): AwsAnswer => {
      const at = Number(body.NextToken ?? 0);
      const next = at + 1 < quotas.length && { NextToken: String(at + 1) };
      return { body: { Quotas: quotas.slice(at, at + 1), ...next } };
    };
  const unknown = {
    status: 400,
    headers: { 'x-amzn-errortype': 'ValidationException' },
    body: { message: 'Unknown.' },
  };
  const profileOf = (id: string) => ({
    body: { models: [{ modelArn: `arn:aws:bedrock:${region}::foundation-model/${id}` }] },
  });
  return {
    'servicequotas:ListServiceQuotas': pagesOf(applied),
    'servicequotas:ListAWSDefaultServiceQuotas': pagesOf(defaults),
    [`bedrock:GET /inference-profiles/${inAmerica}`]: () => profileOf(standardModel),
    [`bedrock:GET /inference-profiles/${globalProfile}`]: () => profileOf(standardModel),
    [`bedrock:GET /inference-profiles/${standardModel}`]: () => unknown,
    [`bedrock:GET /foundation-models/${standardModel}`]: () => ({
      body: { modelDetails: { modelName: 'Claude Sonnet 5.5', providerName: 'Anthropic' } },
    }),
  };
}

async function report(answers: Answers, content: object, model: string) {
  const asked = await useAws(answers);
  const {
    state,
    what,
    todo = '',
  } = await checkModelQuota(parseSettings(content, 'settings/prod.json', 'prod'), { model, region });
  const services = asked
    .filter(({ action }) => action.startsWith('servicequotas:'))
    .map(({ body }) => body.ServiceCode);
  expect(new Set(services)).toEqual(new Set(services.length > 0 ? ['bedrock'] : []));
  return `${state}: ${what} | ${todo}`;
}

const executions = (concurrency: number, batchSize = 1) => ({ queues: { executions: { concurrency, batchSize } } });

it.each<[string, string, string, number, object, RegExp]>([
  [
    'exactly enough',
    inAmerica,
    'Cross-region',
    2_457_600,
    {},
    /^ok: .* is 2,457,600, enough for the 100 executions .* 24,576 tokens\. \| $/,
  ],
  [
    'one token too few',
    inAmerica,
    'Cross-region',
    2_457_599,
    {},
    /^warning: .* enough for 99 steps .* \| Set "queues": \{ "executions": \{ "concurrency": 99 \} \} in settings.prod\.json, or .*--quota-code L-ABCDEF12 --desired-value 2457600/,
  ],
  [
    'few for a batch',
    inAmerica,
    'Cross-region',
    245_760,
    executions(20, 4),
    /^warning: .* run 80 executions at once.* \| Set .*"concurrency": 2 /,
  ],
  [
    'for less than the lowest concurrency',
    inAmerica,
    'Cross-region',
    24_576,
    executions(2),
    /^warning: .* \| Set "runningCap": 1 in .*, and request an increase/,
  ],
  [
    'for less than a step',
    inAmerica,
    'Cross-region',
    24_575,
    executions(2),
    /^problem: .* a step reserves 24,576 tokens.* \| Request an increase: .*--region us-east-1/,
  ],
  ['of a new account', inAmerica, 'Cross-region', 0, {}, /^problem: .* is 0, and a step/],
  [
    'of the global profile',
    globalProfile,
    'Global cross-region',
    1_000_000,
    {},
    /^warning: Global cross-region .* enough for 40 steps/,
  ],
])(
  'a quota %s is compared with the executions that the settings run at once',
  async (_, model, kind, value, content, expected) => {
    const quotas = [...others, quota(perMinute(kind, 'Anthropic Claude Sonnet 5.5 V1'), value)];
    expect(await report(answersWith(quotas), content, model)).toMatch(expected);
  },
);

it('a quota that the account has not stored is the default of AWS', async () => {
  const defaults = [quota(perMinute('Cross-region'), 6_000_000)];
  expect(await report(answersWith(others, defaults), {}, inAmerica)).toMatch(/^ok: .* is 6,000,000/);
});

it.each([
  ['an unknown name', inAmerica],
  ['an application inference profile', 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc'],
])('the quota of a model with %s is a warning with the command that looks it up', async (_, model) => {
  expect(await report(answersWith(others), {}, model)).toMatch(
    /^warning: .* has no quota .* \| Look it up: aws service-quotas list/,
  );
});

it('a missing right is a warning that names the rights', async () => {
  const denied = {
    status: 400,
    headers: { 'x-amzn-errortype': 'AccessDeniedException' },
    body: { message: 'You are not authorized to perform: servicequotas:ListServiceQuotas' },
  };
  const answers = { ...answersWith([]), 'servicequotas:ListServiceQuotas': () => denied };
  expect(await report(answers, {}, inAmerica)).toMatch(
    /^warning: The quota of us\..* cannot be read: You are not authorized.* \| This check needs servicequotas:ListServiceQuotas,/,
  );
});

it.each([
  [true, 1],
  [false, 0],
])('preflight reads the quota if it calls the model: %s', async (ask, times) => {
  const asked = await useAws(answersWith([quota(perMinute('Cross-region'), 1)]));
  const findings = await checkModels(parseSettings({}, 'settings/prod.json'), region, { model: inAmerica, ask });
  expect(asked.filter(({ action }) => action === 'servicequotas:ListServiceQuotas')).toHaveLength(times);
  expect(findings.filter(({ what }) => what.includes('tokens per minute'))).toHaveLength(times);
});
