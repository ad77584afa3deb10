import {
  BedrockClient,
  GetFoundationModelAvailabilityCommand,
  GetInferenceProfileCommand,
} from '@aws-sdk/client-bedrock';
import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { wordsFor } from './aws-faults.ts';
import type { Finding } from './finding.ts';

/** A model, or the inference profile that stands for one, and the region where it is asked. */
export type ModelChoice = { model: string; region: string };

/** Finds whether the account may use a model, by what Bedrock says of it: that costs nothing. */
export async function findModel({ model, region }: ModelChoice): Promise<Finding> {
  const client = new BedrockClient({ region });
  try {
    const profiled = await profileOf(client, model);
    const said = await client.send(new GetFoundationModelAvailabilityCommand({ modelId: profiled ?? model }));
    const lacking = [
      said.authorizationStatus !== 'AUTHORIZED' && 'it is not authorized',
      said.entitlementAvailability !== 'AVAILABLE' && 'the account is not entitled to it',
      said.agreementAvailability?.status !== 'AVAILABLE' && 'its agreement is not accepted',
      // Through a profile it is asked in other regions as well; that the profile is known here is enough.
      !profiled && said.regionAvailability !== 'AVAILABLE' && `it is not offered in ${region}`,
    ].filter((fault) => fault !== false);
    if (lacking.length === 0)
      return { state: 'ok', what: `Bedrock in ${region} offers ${model} to this account; --ask asks it.` };
    return {
      state: 'problem',
      what: `The model ${model} cannot be used in ${region}: ${lacking.join(', ')}. Executions would fail.`,
      todo: `Open Amazon Bedrock in ${region}, Model catalog, and use the model once (some ask for a form first), or set defaultModel or modelRegion in the settings file.`,
    };
  } catch (error) {
    const { name } = error as Error;
    if (name !== 'ValidationException' && name !== 'ResourceNotFoundException')
      return {
        state: 'warning',
        what: `What Bedrock offers in ${region} cannot be read: ${wordsFor(error)}`,
        todo: 'This check needs bedrock:GetFoundationModelAvailability and bedrock:GetInferenceProfile.',
      };
    return {
      state: 'problem',
      what: `Bedrock in ${region} knows no model ${model}: ${wordsFor(error)}`,
      todo: `aws bedrock list-inference-profiles --region ${region} names those that there are; set one as defaultModel in the settings file.`,
    };
  }
}

/** The model behind an inference profile; `undefined` for what is none. */
async function profileOf(client: BedrockClient, inferenceProfileIdentifier: string): Promise<string | undefined> {
  try {
    const { models = [] } = await client.send(new GetInferenceProfileCommand({ inferenceProfileIdentifier }));
    return models[0]?.modelArn?.split('/').at(-1);
  } catch (error) {
    const { name } = error as Error;
    if (name === 'ValidationException' || name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

/** Finds whether the model answers, by the only honest question: one token, which costs a fraction of a cent. */
export async function askModel({ model, region }: ModelChoice): Promise<Finding> {
  try {
    const messages = [{ role: 'user' as const, content: [{ text: 'Say yes.' }] }];
    const ask = new ConverseCommand({ modelId: model, messages, inferenceConfig: { maxTokens: 1 } });
    // As the functions ask (decision 23).
    await new BedrockRuntimeClient({ region, requestHandler: new NodeHttpHandler() }).send(ask);
    return { state: 'ok', what: `The model ${model} answers in ${region}.` };
  } catch (error) {
    const what = `The model ${model} does not answer in ${region}: ${wordsFor(error)}`;
    return { state: 'problem', what, todo: 'Executions would fail for the same reason.' };
  }
}
