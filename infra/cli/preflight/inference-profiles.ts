import { type BedrockClient, GetInferenceProfileCommand } from '@aws-sdk/client-bedrock';

/** A model or an inference profile, and the region where it is called. */
export type ModelChoice = { model: string; region: string };

/** Returns the ARNs of the models of an inference profile, one for each model; none if it is not a profile. */
export async function modelsOfProfile(client: BedrockClient, inferenceProfileIdentifier: string): Promise<string[]> {
  try {
    const { models = [] } = await client.send(new GetInferenceProfileCommand({ inferenceProfileIdentifier }));
    const arns = models.flatMap(({ modelArn }) => (modelArn ? [modelArn] : []));
    return [...new Map(arns.map((arn) => [arn.split('/').at(-1), arn])).values()];
  } catch (error) {
    if (isUnknownModel(error)) return [];
    throw error;
  }
}

/** Returns whether Bedrock does not know a model or a profile. */
export function isUnknownModel(error: unknown): boolean {
  const { name } = error as Error;
  return name === 'ValidationException' || name === 'ResourceNotFoundException';
}
