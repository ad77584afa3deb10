import { Aws } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { StackSettings } from '../settings.ts';

/**
 * Returns the right to call models: the allowed models, or every model if the settings name none, because an agent names
 * its own model.
 *
 * @param settings.emulator whether to add the action `bedrock:Converse`, which the emulator checks; AWS has no such action
 */
export function mayAskModels({
  allowedModels,
  modelRegion = Aws.REGION,
  emulator,
}: Pick<StackSettings, 'allowedModels' | 'modelRegion' | 'emulator'>): PolicyStatement {
  const resources = allowedModels?.flatMap((model) => resourcesOf(model, modelRegion)) ?? ['*'];
  return new PolicyStatement({
    actions: ['bedrock:InvokeModel', ...(emulator ? ['bedrock:Converse'] : [])],
    resources: [...new Set(resources)],
  });
}

/** Returns the resources of the right to call models that contain a wildcard, in the notation of cdk-nag. */
export function modelPatterns({ allowedModels = [] }: Pick<StackSettings, 'allowedModels'>): string[] {
  const resources = allowedModels.flatMap((model) => resourcesOf(model, '', '<AWS::Partition>'));
  return [...new Set(resources)].filter((resource) => resource.includes('*'));
}

/** The regions to which a geographic profile may send a prompt, as patterns of ARNs. */
const destinations: Readonly<Record<string, readonly string[]>> = {
  us: ['us-*', 'ca-*'],
  'us-gov': ['us-gov-*'],
  eu: ['eu-*'],
  jp: ['ap-northeast-*'],
  au: ['ap-southeast-*'],
  apac: ['ap-*'],
};

/**
 * Returns the resources of a call of a model: an inference profile, and its foundation model in every region to which it may
 * send a prompt (Amazon Bedrock User Guide, "Geographic cross-Region inference" and "Global cross-Region inference"). A model
 * in one region is its own resource. An ARN is used unchanged. An application inference profile does not show its model, so
 * all foundation models are allowed with it.
 */
function resourcesOf(model: string, region: string, partition: string = Aws.PARTITION): string[] {
  const arn = (inRegion: string, account: string, resource: string) =>
    `arn:${partition}:bedrock:${inRegion}:${account}:${resource}`;
  const foundation = (inRegion: string, id: string) => arn(inRegion, '', `foundation-model/${id}`);
  if (model.startsWith('arn:')) return model.includes('inference-profile/') ? [model, foundation('*', '*')] : [model];
  const [, geography = '', id = ''] = /^(global|us-gov|us|eu|jp|au|apac)\.(.+)$/.exec(model) ?? [];
  if (id === '') return [foundation(region, model)];
  const profile = arn(region, Aws.ACCOUNT_ID, `inference-profile/${model}`);
  // A global profile sends a prompt to a foundation model that has no region in its ARN.
  const regions = geography === 'global' ? [region, ''] : (destinations[geography] ?? []);
  return [profile, ...regions.map((one) => foundation(one, id))];
}
