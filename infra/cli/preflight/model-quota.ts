import { BedrockClient, GetFoundationModelCommand } from '@aws-sdk/client-bedrock';
import {
  paginateListAWSDefaultServiceQuotas,
  paginateListServiceQuotas,
  type ServiceQuota,
  ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';
import { thinkingTokensOf } from '../../../lib/contract/agents/models.ts';
import { maxTokensOfOutput } from '../../../lib/executions/run/generate-output.ts';
import { concurrencyBounds, pollingOf } from '../../../lib/settings/polling.ts';
import { awsErrorMessage } from '../../aws/deployed/aws-errors.ts';
import { type DeploySettings, settingsFileOf } from '../../aws/settings.ts';
import type { Finding } from './finding.ts';
import { type ModelChoice, modelsOfProfile } from './inference-profiles.ts';

/** The calls of AWS that the check makes, as its rights. */
const rights =
  'servicequotas:ListServiceQuotas, servicequotas:ListAWSDefaultServiceQuotas, bedrock:GetFoundationModel and bedrock:GetInferenceProfile';

/** The kinds of quotas by the beginning of a model id: the prefix of a global or a geographic profile, or none. */
const kinds = [
  [/^global\./, /^Global cross-region /i],
  [/^(us-gov|us|eu|jp|au|apac)\./, /^Cross-region /i],
  [/^(?!arn:)/, /^On-demand /i],
] as const;

/**
 * Checks that the quota of tokens a minute of a model is enough for the executions that the settings run at once. Bedrock
 * reserves the maximum tokens of an answer when a call begins, so a step without input reserves up to 24,576 tokens (Amazon
 * Bedrock User Guide, "How tokens are counted in Amazon Bedrock"). A new account can have a quota of 0.
 */
export async function checkModelQuota(settings: DeploySettings, { model, region }: ModelChoice): Promise<Finding> {
  try {
    const kind = kinds.find(([ofModel]) => ofModel.test(model))?.[1];
    const quota = kind && (await quotaOf(kind, await nameOf(model, region), region));
    if (!quota) return unknownQuota(model, region);
    return findingOf(settings, { model, region }, quota);
  } catch (error) {
    return {
      state: 'warning',
      what: `The quota of ${model} in ${region} cannot be read: ${awsErrorMessage(error)}`,
      todo: `This check needs ${rights}.`,
    };
  }
}

function findingOf(
  settings: DeploySettings,
  { model, region }: ModelChoice,
  { QuotaCode, QuotaName, Value = 0 }: ServiceQuota,
): Finding {
  const { concurrency, batchSize } = pollingOf(settings.lambdaConcurrency, settings.queues).executions;
  const atOnce = concurrency * batchSize;
  const reserved = maxTokensOfOutput + thinkingTokensOf(model);
  const needed = atOnce * reserved;
  const of = `${QuotaName} in ${region} is ${counted(Value)}`;
  const increase = `aws service-quotas request-service-quota-increase --service-code bedrock --region ${region} --quota-code ${QuotaCode} --desired-value ${needed}`;
  if (Value >= needed)
    return {
      state: 'ok',
      what: `${of}, enough for the ${atOnce} executions that run at once, each with a step of ${counted(reserved)} tokens.`,
    };
  const enoughFor = Math.floor(Value / reserved);
  if (enoughFor === 0)
    return {
      state: 'problem',
      what: `${of}, and a step reserves ${counted(reserved)} tokens. Executions would wait until they fail.`,
      todo: `Request an increase: ${increase}`,
    };
  const lowered = Math.floor(enoughFor / batchSize);
  return {
    state: 'warning',
    what: `${of}, enough for ${enoughFor} steps of ${counted(reserved)} tokens a minute. The settings run ${atOnce} executions at once, which reserve ${counted(needed)}; models would throttle them.`,
    todo:
      lowered >= concurrencyBounds.least
        ? `Set "queues": { "executions": { "concurrency": ${lowered} } } in ${settingsFileOf(settings.stage)}, or request an increase: ${increase}`
        : `Set "runningCap": ${enoughFor} in ${settingsFileOf(settings.stage)}, and request an increase: ${increase}`,
  };
}

function unknownQuota(model: string, region: string): Finding {
  return {
    state: 'warning',
    what: `Service Quotas in ${region} has no quota of tokens a minute by the name of ${model}.`,
    todo: `Look it up: aws service-quotas list-service-quotas --service-code bedrock --region ${region} --query "Quotas[?contains(QuotaName, 'tokens per minute')].[QuotaName,Value]" --output text`,
  };
}

/** Returns the names that a quota can have for a model, such as `anthropic claude sonnet 5.5`, without a version. */
async function nameOf(model: string, region: string): Promise<string[]> {
  const client = new BedrockClient({ region });
  const [profiled] = await modelsOfProfile(client, model);
  const modelIdentifier = profiled?.split('/').at(-1) ?? model;
  const { modelDetails } = await client.send(new GetFoundationModelCommand({ modelIdentifier }));
  const { modelName = '', providerName = '' } = modelDetails ?? {};
  return [`${providerName} ${modelName}`, modelName].map((name) => name.trim().toLowerCase());
}

/**
 * Returns the quota of tokens a minute of a kind and a model: the quota of the account, or the default of AWS. Service Quotas does
 * not list the quota of an account that it has not stored.
 */
async function quotaOf(kind: RegExp, names: readonly string[], region: string): Promise<ServiceQuota | undefined> {
  const isMeant = ({ QuotaName = '' }: ServiceQuota): boolean => {
    const [, model = ''] = /tokens per minute for (.+)$/i.exec(QuotaName) ?? [];
    return kind.test(QuotaName) && names.includes(model.toLowerCase().replace(/ v\d+(\.\d+)?$/, ''));
  };
  const client = new ServiceQuotasClient({ region });
  for (const list of [paginateListServiceQuotas, paginateListAWSDefaultServiceQuotas])
    for await (const { Quotas = [] } of list({ client }, { ServiceCode: 'bedrock' })) {
      const found = Quotas.find(isMeant);
      if (found) return found;
    }
  return undefined;
}

const counted = (value: number) => value.toLocaleString('en');
