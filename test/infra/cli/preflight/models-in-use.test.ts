import { expect, it } from 'vitest';
import { parseSettings } from '../../../../infra/aws/settings.ts';
import { checkModelsInUse } from '../../../../infra/cli/preflight/models-in-use.ts';
import { geographicProfiles } from '../../../../lib/contract/agents/models.ts';
import { type AwsAnswer, describedStack, stackResources, useAws } from '../aws.ts';

const action = 'monitoring:ListMetrics';
const [, inEurope = ''] = geographicProfiles;

/** Returns the answers of CloudWatch for a stack that called these models, with a model a page. */
const pageOf =
  (models: readonly string[]) =>
  ({ body }: { body: Record<string, unknown> }): AwsAnswer => {
    const at = Number(body.NextToken ?? 0);
    const dimensions = [
      { Name: 'service', Value: 'Crewboard-prod' },
      { Name: 'model', Value: models[at] },
    ];
    const metrics =
      at < models.length ? [{ Namespace: 'Crewboard', MetricName: 'TokensUsed', Dimensions: dimensions }] : [];
    return { body: { Metrics: metrics, ...(at + 1 < models.length && { NextToken: String(at + 1) }) } };
  };

async function report(called: readonly string[], content: object) {
  const asked = await useAws({
    [action]: pageOf(called),
    'cloudformation:DescribeStacks': () => describedStack({ TableName: 'own' }),
    'cloudformation:ListStackResources': stackResources([
      { id: 'GlobalTable1', type: 'AWS::DynamoDB::GlobalTable', name: 'own' },
    ]),
  });
  const findings = await checkModelsInUse(parseSettings(content, 'settings/prod.json', 'prod'), 'eu-central-1');
  expect(asked.find(({ body }) => 'MetricName' in body)?.body).toMatchObject({
    ...{ Namespace: 'Crewboard', MetricName: 'TokensUsed' },
    Dimensions: [{ Name: 'service', Value: 'Crewboard-prod' }, { Name: 'model' }],
  });
  return findings.map(({ state, what, todo = '' }) => `${state} ${what} ${todo}`);
}

it.each<[string, string[], object, ...RegExp[]]>([
  ['none', [], {}],
  ['none of a stack without a list', [], { allowedModels: 'every' }],
  [
    'two of a stack without a list',
    ['b.two', 'a.one'],
    {},
    /^warning .*: a\.one, b\.two\. .* every other model .* Set "allowedModels" in settings.prod\.json/,
  ],
  ['only the allowed one', [inEurope], { allowedModels: 'default' }, /^ok .* All of them are allowed\./],
  [
    'another one',
    [inEurope, 'b.two'],
    { allowedModels: 'default' },
    /^warning .* not in allowedModels: b\.two\. .*move-model --from b\.two --to eu\./,
  ],
])('preflight lists the models in use: %s', async (_, called, content, ...findings) => {
  expect(await report(called, content)).toEqual(findings.map((finding) => expect.stringMatching(finding)));
});

it('preflight names the right that the list of the models in use needs', async () => {
  const denied = { status: 403, headers: { 'x-amzn-errortype': 'AccessDenied' }, body: { message: 'You may not.' } };
  await useAws({ [action]: () => denied });
  const [finding] = await checkModelsInUse(parseSettings({}, 'settings/prod.json'), 'eu-central-1');
  expect(finding).toMatchObject({ state: 'warning', todo: 'This check needs cloudwatch:ListMetrics.' });
});
