import {
  BedrockClient,
  type FoundationModelLifecycle,
  GetFoundationModelAvailabilityCommand,
  GetFoundationModelCommand,
  GetInferenceProfileCommand,
} from '@aws-sdk/client-bedrock';
import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { standardProfileIn } from '../../../lib/contract/models.ts';
import { createConverseModel } from '../../../lib/model/converse.ts';
import { type Settings, withDefaultModel } from '../../aws/settings.ts';
import { wordsFor } from '../stack/aws-errors.ts';
import type { Finding } from './finding.ts';

/** A model, or the inference profile that stands for one, and the region where it is called. */
export type ModelChoice = { model: string; region: string };

/** What to do before the first call of a model of Anthropic in an account. */
const submitForm =
  'Submit the use-case form of Anthropic, once for the account or once in the management account of its organization: choose the model in the model catalog of the Amazon Bedrock console, or run aws bedrock put-use-case-for-model-access. Try again 15 minutes later.';

/** What to do before the first call of a model that is sold by AWS Marketplace. */
const subscribe =
  'The first call in an account subscribes to the model. Make that call with credentials that have aws-marketplace:Subscribe, aws-marketplace:Unsubscribe and aws-marketplace:ViewSubscriptions, for example by this command with --ask as an administrator. The stack itself needs none of these rights. Try again 5 minutes later.';

/** What Bedrock says of a model that is not ready for an account, and what to do about it. */
const remedies: readonly [RegExp, string][] = [
  [/use.case (details|form)/i, submitForm],
  [/aws-marketplace:/i, subscribe],
  [/payment/i, 'Set a valid payment method for the account: models of other makers are paid through AWS Marketplace.'],
];

/** Which models are checked: this one instead of the default model and the allowed ones; and whether each is called. */
export type ModelOptions = { model?: string | undefined; ask?: boolean | undefined };

/** Finds whether the models of a stack can be used. */
export async function findModels(
  settings: Settings,
  ownRegion: string,
  { model, ask = false }: ModelOptions,
): Promise<Finding[]> {
  const region = settings.modelRegion ?? ownRegion;
  try {
    const { defaultModel, allowedModels = [] } = withDefaultModel(settings, ownRegion);
    const models = new Set(model === undefined ? [defaultModel, ...allowedModels] : [model]);
    const checked = [...models].map(async (one) => {
      const choice = { model: one, region };
      return [await findModel(choice), ...(ask ? [await askModel(choice)] : [])];
    });
    return (await Promise.all(checked)).flat();
  } catch (error) {
    return [{ state: 'problem', what: (error as Error).message }];
  }
}

/**
 * Finds whether an account may use a model, by what Bedrock says of it, which costs nothing: whether it is current, and
 * whether the account has access to it.
 */
export async function findModel({ model, region }: ModelChoice): Promise<Finding> {
  const client = new BedrockClient({ region });
  try {
    const profiled = await modelsBehind(client, model);
    for (const modelArn of profiled) {
      const finding = outdated(model, region, await lifecycleOf(region, modelArn));
      if (finding) return finding;
    }
    const modelId = profiled[0]?.split('/').at(-1) ?? model;
    const finding = profiled.length === 0 && outdated(model, region, await lifecycleOf(region, modelId));
    if (finding) return finding;
    const said = await client.send(new GetFoundationModelAvailabilityCommand({ modelId }));
    const lacking = [
      said.authorizationStatus !== 'AUTHORIZED' && 'it is not authorized',
      said.entitlementAvailability !== 'AVAILABLE' && 'the account is not entitled to it',
      said.agreementAvailability?.status !== 'AVAILABLE' && 'its agreement is not accepted',
      // Through a profile it is asked in other regions as well; that the profile is known here is enough.
      profiled.length === 0 && said.regionAvailability !== 'AVAILABLE' && `it is not offered in ${region}`,
    ].filter((fault) => fault !== false);
    if (lacking.length === 0)
      return { state: 'ok', what: `Bedrock in ${region} offers ${model} to this account; --ask asks it.` };
    const isOfAnthropic = /\banthropic\./.test(modelId);
    return {
      state: 'problem',
      what: `The model ${model} cannot be used in ${region}: ${lacking.join(', ')}. Executions would fail.`,
      todo: [...(isOfAnthropic ? [submitForm] : []), subscribe].join(' '),
    };
  } catch (error) {
    if (!isUnknown(error))
      return {
        state: 'warning',
        what: `What Bedrock offers in ${region} cannot be read: ${wordsFor(error)}`,
        todo: 'This check needs bedrock:GetFoundationModel, bedrock:GetFoundationModelAvailability and bedrock:GetInferenceProfile.',
      };
    return {
      state: 'problem',
      what: `Bedrock in ${region} knows no model ${model}: ${wordsFor(error)}`,
      todo: `aws bedrock list-inference-profiles --region ${region} lists the inference profiles; set defaultModel in the settings file to one of them.`,
    };
  }
}

/** A problem where a model is to end: new customers cannot use it any more, and others only until a date. */
function outdated(
  model: string,
  region: string,
  { status, legacyTime, endOfLifeTime }: Partial<FoundationModelLifecycle>,
): Finding | undefined {
  if (status !== 'LEGACY') return undefined;
  const day = (time: Date) => time.toISOString().slice(0, 10);
  const since = legacyTime ? ` since ${day(legacyTime)}` : '';
  const until = endOfLifeTime ? `, and ends on ${day(endOfLifeTime)}` : '';
  const current = standardProfileIn(region);
  return {
    state: 'problem',
    what: `The model ${model} is in state Legacy${since}${until}: accounts that have not used it lately cannot use it.`,
    todo: `Set defaultModel in the settings file to a current model${current ? `, such as ${current}` : ''}, and move the agents that have this one: npm run crewboard -- agents move-model --from ${model} --to ${current ?? 'MODEL'} --dry-run`,
  };
}

/** The lifecycle of a foundation model, by its id or its ARN, which may be of another region. */
async function lifecycleOf(region: string, model: string): Promise<Partial<FoundationModelLifecycle>> {
  const [, , , own = ''] = model.split(':');
  const client = new BedrockClient({ region: model.startsWith('arn:') && own !== '' ? own : region });
  const modelIdentifier = model.split('/').at(-1);
  const { modelDetails } = await client.send(new GetFoundationModelCommand({ modelIdentifier }));
  return modelDetails?.modelLifecycle ?? {};
}

/** The ARNs of the models behind an inference profile, one for each model; none for what is no profile. */
async function modelsBehind(client: BedrockClient, inferenceProfileIdentifier: string): Promise<string[]> {
  try {
    const { models = [] } = await client.send(new GetInferenceProfileCommand({ inferenceProfileIdentifier }));
    const arns = models.flatMap(({ modelArn }) => (modelArn ? [modelArn] : []));
    return [...new Map(arns.map((arn) => [arn.split('/').at(-1), arn])).values()];
  } catch (error) {
    if (isUnknown(error)) return [];
    throw error;
  }
}

function isUnknown(error: unknown): boolean {
  const { name } = error as Error;
  return name === 'ValidationException' || name === 'ResourceNotFoundException';
}

/** A call of a model that has not ended within this time, in milliseconds, does not end well. */
const askedWithinMs = 60_000;

/**
 * Finds whether a model answers, by a question of a few tokens, which costs a fraction of a cent. It is asked as the
 * functions ask (docs/decisions/10-model-calls-have-fixed-limits-and-two-gates.md), with every parameter that they use.
 */
export async function askModel({ model, region }: ModelChoice): Promise<Finding> {
  const client = new BedrockRuntimeClient({ region, requestHandler: new NodeHttpHandler() });
  let failure: unknown;
  const ask = createConverseModel(client, (error) => {
    failure = error;
  });
  const signal = AbortSignal.timeout(askedWithinMs);
  const question = { model, system: 'Answer with one word.', user: 'Say yes.', maxTokens: 16, effort: 'low' as const };
  const answer = await ask({ ...question, signal });
  if (answer.kind === 'text') return { state: 'ok', what: `The model ${model} answers in ${region}.` };
  const said = failure ? wordsFor(failure) : wordsOf(answer.kind, 'error' in answer ? answer.error : undefined);
  const [, todo = 'Executions would fail for the same reason.'] = remedies.find(([form]) => form.test(said)) ?? [];
  return { state: 'problem', what: `The model ${model} does not answer in ${region}: ${said}`, todo };
}

function wordsOf(kind: string, error: string | undefined): string {
  if (kind === 'throttled') return 'it takes no more calls at the moment (throttled).';
  return error ?? 'it did not answer within a minute.';
}
