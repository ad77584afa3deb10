import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { clientConfig, environment } from '../contract/deployment.ts';
import { type Model, openModel } from './converse.ts';

/** A connection takes no longer, or there is none. An answer may take as long as its caller waits. */
const connectionTimeoutMs = 5_000;

/** Who asks limits how often it asks at once: a queue for connections in here would use up the callers' time unseen. */
const agent = { maxSockets: Number.POSITIVE_INFINITY };

/**
 * The models of this deployment. It is no part of `app.ts`, so that only functions which ask a model carry Bedrock's
 * client; that is opened by the first question.
 *
 * @param onFailure see `openModel`
 */
export function openBedrock(
  variables: Readonly<Record<string, string | undefined>>,
  onFailure?: (error: unknown) => void,
): Model {
  let model: Model | undefined;
  return (question) => {
    const { [environment.modelEndpoint]: endpoint, [environment.modelRegion]: region } = variables;
    model ??= openModel(openClient(endpoint, region), onFailure);
    return model(question);
  };
}

/** HTTP/1.1, unlike the client's own choice: an HTTP/2 session does not outlive a container that was frozen. */
function openClient(endpoint: string | undefined, region: string | undefined): BedrockRuntimeClient {
  return new BedrockRuntimeClient({
    ...(region && { region }),
    ...clientConfig(endpoint),
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: connectionTimeoutMs,
      httpAgent: agent,
      httpsAgent: agent,
    }),
  });
}
