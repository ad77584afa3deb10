import {
  BedrockClient,
  type FoundationModelLifecycle,
  GetFoundationModelAvailabilityCommand,
  GetFoundationModelCommand,
} from '@aws-sdk/client-bedrock';
import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { standardProfileIn } from '../../../lib/contract/agents/models.ts';
import { createConverseModel } from '../../../lib/model/converse.ts';
import { awsErrorMessage } from '../../aws/deployed/aws-errors.ts';
import { type DeploySettings, withDefaultModel } from '../../aws/settings.ts';
import type { Finding } from './finding.ts';
import { isUnknownModel, type ModelChoice, modelsOfProfile } from './inference-profiles.ts';
import { checkModelQuota } from './model-quota.ts';

/** What to do before the first call of a model of Anthropic in an account. */
const submitForm =
  'Submit the use-case form of Anthropic, once for the account or once in the management account of its organization: choose the model in the model catalog of the Amazon Bedrock console, or run aws bedrock put-use-case-for-model-access. Try again 15 minutes later.';

/** What to do before the first call of a model of AWS Marketplace in an account. */
const subscribe =
  'The first call in an account subscribes to the model. Make that call with credentials that have aws-marketplace:Subscribe, aws-marketplace:Unsubscribe and aws-marketplace:ViewSubscriptions, for example with this command and --ask as an administrator. The stack itself needs none of these rights. Try again 5 minutes later.';

/** Patterns of Bedrock's errors for a model that is not ready for an account, and what to do about them. */
const remedies: readonly [RegExp, string][] = [
  [/use.case (details|form)/i, submitForm],
  [/aws-marketplace:/i, subscribe],
  [
    /payment/i,
    'Set a valid payment method for the account. Models of other providers are billed through AWS Marketplace.',
  ],
];

/**
 * The options of the checks: a model to check instead of the default and allowed models; whether each model is called, and its
 * quota read.
 */
export type ModelOptions = { model?: string | undefined; ask?: boolean | undefined };

/** Checks that the models of a stack can be used. */
export async function checkModels(
  settings: DeploySettings,
  ownRegion: string,
  { model, ask = false }: ModelOptions,
): Promise<Finding[]> {
  const region = settings.modelRegion ?? ownRegion;
  try {
    const { defaultModel, allowedModels = [] } = withDefaultModel(settings, ownRegion);
    const models = new Set(model === undefined ? [defaultModel, ...allowedModels] : [model]);
    const checked = [...models].map(async (one) => {
      const choice = { model: one, region };
      return [
        await checkModel(choice),
        ...(ask ? [await callModel(choice), await checkModelQuota(settings, choice)] : []),
      ];
    });
    return (await Promise.all(checked)).flat();
  } catch (error) {
    return [{ state: 'problem', what: (error as Error).message }];
  }
}

/**
 * Checks by the metadata of Bedrock, at no cost, that a model is current and that the account has access to it.
 */
export async function checkModel({ model, region }: ModelChoice): Promise<Finding> {
  const client = new BedrockClient({ region });
  try {
    const profiled = await modelsOfProfile(client, model);
    for (const modelArn of profiled) {
      const finding = outdated(model, region, await lifecycleOf(region, modelArn));
      if (finding) return finding;
    }
    const modelId = profiled[0]?.split('/').at(-1) ?? model;
    const finding = profiled.length === 0 && outdated(model, region, await lifecycleOf(region, modelId));
    if (finding) return finding;
    const availability = await client.send(new GetFoundationModelAvailabilityCommand({ modelId }));
    const lacking = [
      availability.authorizationStatus !== 'AUTHORIZED' && 'it is not authorized',
      availability.entitlementAvailability !== 'AVAILABLE' && 'the account is not entitled to it',
      availability.agreementAvailability?.status !== 'AVAILABLE' && 'its agreement is not accepted',
      // An inference profile also calls the model in other regions, so it need not be available in this one.
      profiled.length === 0 && availability.regionAvailability !== 'AVAILABLE' && `it is not offered in ${region}`,
    ].filter((reason) => reason !== false);
    if (lacking.length === 0)
      return { state: 'ok', what: `Bedrock in ${region} offers ${model} to this account. Use --ask to call it.` };
    const isOfAnthropic = /\banthropic\./.test(modelId);
    return {
      state: 'problem',
      what: `The model ${model} cannot be used in ${region}: ${lacking.join(', ')}. Executions would fail.`,
      todo: [...(isOfAnthropic ? [submitForm] : []), subscribe].join(' '),
    };
  } catch (error) {
    if (!isUnknownModel(error))
      return {
        state: 'warning',
        what: `The models of Bedrock in ${region} cannot be read: ${awsErrorMessage(error)}`,
        todo: 'This check needs bedrock:GetFoundationModel, bedrock:GetFoundationModelAvailability and bedrock:GetInferenceProfile.',
      };
    return {
      state: 'problem',
      what: `Bedrock in ${region} does not have the model ${model}: ${awsErrorMessage(error)}`,
      todo: `List the inference profiles with aws bedrock list-inference-profiles --region ${region}, and set defaultModel in the settings file to one of them.`,
    };
  }
}

/** Returns a problem if a model is in state Legacy: new customers cannot use it, and others only until a date. */
function outdated(
  model: string,
  region: string,
  { status, legacyTime, endOfLifeTime }: Partial<FoundationModelLifecycle>,
): Finding | undefined {
  if (status !== 'LEGACY') return undefined;
  const day = (time: Date) => time.toISOString().slice(0, 10);
  const since = legacyTime ? ` since ${day(legacyTime)}` : '';
  const until = endOfLifeTime ? ` and ends on ${day(endOfLifeTime)}` : '';
  const current = standardProfileIn(region);
  return {
    state: 'problem',
    what: `The model ${model} is in state Legacy${since}${until}. Accounts that have not used it recently cannot use it.`,
    todo: `Set defaultModel in the settings file to a current model${current ? `, such as ${current}` : ''}, and move the agents with the old model: npm run crewboard -- agents move-model --from ${model} --to ${current ?? 'MODEL'} --dry-run`,
  };
}

/** Returns the lifecycle of a foundation model, by its id or its ARN. An ARN may be of another region. */
async function lifecycleOf(region: string, model: string): Promise<Partial<FoundationModelLifecycle>> {
  const [, , , own = ''] = model.split(':');
  const client = new BedrockClient({ region: model.startsWith('arn:') && own !== '' ? own : region });
  const modelIdentifier = model.split('/').at(-1);
  const { modelDetails } = await client.send(new GetFoundationModelCommand({ modelIdentifier }));
  return modelDetails?.modelLifecycle ?? {};
}

/** The timeout of a call of a model, in milliseconds. */
const callWithinMs = 60_000;

/**
 * Checks that a model answers a prompt of a few tokens, which costs a fraction of a cent. The call has every parameter that
 * the functions use (docs/decisions/10-model-calls-have-fixed-limits-and-two-gates.md).
 */
export async function callModel({ model, region }: ModelChoice): Promise<Finding> {
  const client = new BedrockRuntimeClient({ region, requestHandler: new NodeHttpHandler() });
  let failure: unknown;
  const ask = createConverseModel(client, (error) => {
    failure = error;
  });
  const signal = AbortSignal.timeout(callWithinMs);
  const question = { model, system: 'Answer with one word.', user: 'Say yes.', maxTokens: 16, effort: 'low' as const };
  const answer = await ask({ ...question, signal });
  if (answer.kind === 'text') return { state: 'ok', what: `The model ${model} answers in ${region}.` };
  const message = failure
    ? awsErrorMessage(failure)
    : answerMessage(answer.kind, 'error' in answer ? answer.error : undefined);
  const [, todo = 'Executions would fail for the same reason.'] = remedies.find(([form]) => form.test(message)) ?? [];
  return { state: 'problem', what: `The model ${model} does not answer in ${region}: ${message}`, todo };
}

function answerMessage(kind: string, error: string | undefined): string {
  if (kind === 'throttled') return 'it accepts no more calls at the moment (throttled).';
  return error ?? 'it did not answer within a minute.';
}
