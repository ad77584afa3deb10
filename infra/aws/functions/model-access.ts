import { Aws } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Settings } from '../settings.ts';

/**
 * Returns the right to call models: the allowed ones, or every model where none is named, for an agent names its own.
 *
 * @param settings.emulator AWS takes this right for Converse, and knows none of that name; the emulator asks for one
 */
export function mayAskModels({
  allowedModels,
  modelRegion = Aws.REGION,
  emulator,
}: Pick<Settings, 'allowedModels' | 'modelRegion' | 'emulator'>): PolicyStatement {
  const resources = allowedModels?.flatMap((model) => resourcesOf(model, modelRegion)) ?? ['*'];
  return new PolicyStatement({
    actions: ['bedrock:InvokeModel', ...(emulator ? ['bedrock:Converse'] : [])],
    resources: [...new Set(resources)],
  });
}

/** Returns the patterns among the resources of the right to call models, as cdk-nag writes them. */
export function modelPatterns({ allowedModels = [] }: Pick<Settings, 'allowedModels'>): string[] {
  const resources = allowedModels.flatMap((model) => resourcesOf(model, '', '<AWS::Partition>'));
  return [...new Set(resources)].filter((resource) => resource.includes('*'));
}

/** The regions that a geographic profile may send a prompt to, as patterns of ARNs. */
const destinations: Readonly<Record<string, readonly string[]>> = {
  us: ['us-*', 'ca-*'],
  'us-gov': ['us-gov-*'],
  eu: ['eu-*'],
  jp: ['ap-northeast-*'],
  au: ['ap-southeast-*'],
  apac: ['ap-*'],
};

/**
 * The resources that a call of a model needs: an inference profile, and the foundation model behind it in every region
 * that it may send a prompt to (Amazon Bedrock User Guide, "Geographic cross-Region inference" and "Global cross-Region
 * inference"). A model in one region is its own resource. An ARN is taken as it is; an application inference profile
 * does not show its model, so all foundation models are allowed with it.
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
