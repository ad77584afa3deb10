import type { Agent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { clientConfig } from '../aws/client-config.ts';
import { isAllowed, readAllowedModels } from '../contract/models.ts';
import { environment } from '../deployment/environment.ts';
import { type ConverseClient, type Model, openModel } from './converse.ts';
import { notAllowed } from './failures.ts';

// An import of `node:http` reads all its exports, and reading `WebSocket` loads the undici of Node.js.
const { Agent: HttpAgent } = process.getBuiltinModule('node:http');

/** A connection takes no longer, or there is none. An answer may take as long as its caller waits. */
const connectionTimeoutMs = 5_000;

/** TCP probes of a silent connection, the first after 1 s, so that no gateway drops it before the model answers. */
const probed = { keepAlive: true, keepAliveInitialDelay: 1_000 };

/**
 * Makes each request of an agent use a connection of its own. A pooled connection may have been closed by Bedrock, or
 * have gone with a container that was frozen. A request on it fails with a reset, which cannot be told from a failure
 * of the model, and this client does not try again. A TLS handshake takes some tens of milliseconds, an answer seconds.
 *
 * There is no limit of connections: the callers limit how many questions they ask at once, and a question that waits
 * for a connection would use up its caller's time.
 */
function unpooled<A extends Agent>(agent: A): A {
  const createConnection = agent.createConnection.bind(agent);
  agent.createConnection = (options, done) => createConnection({ ...options, ...probed }, done);
  return agent;
}

const unlimited = { keepAlive: false, maxSockets: Number.POSITIVE_INFINITY };

let given: ConverseClient | undefined;

/** Sets the client by which this process asks models, if not Bedrock's own; called before the first question. */
export function setConverseClient(client: ConverseClient | undefined): void {
  given = client;
}

/**
 * The models of this deployment; one that is not allowed is not asked. It is no part of `app.ts`, so that only functions which ask a model carry Bedrock's
 * client; that is opened by the first question.
 *
 * @param onFailure see `openModel`
 */
export function openBedrock(
  variables: Readonly<Record<string, string | undefined>>,
  onFailure?: (error: unknown) => void,
): Model {
  let model: Model | undefined;
  return async (question) => {
    // An agent may have a model from before the deployment limited them.
    if (!isAllowed(question.model, readAllowedModels(variables[environment.allowedModels])))
      return { ...notAllowed, tokens: 0 };
    const { [environment.modelEndpoint]: endpoint, [environment.modelRegion]: region } = variables;
    model ??= openModel(given ?? openClient(endpoint, region), onFailure);
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
      httpAgent: unpooled(new HttpAgent(unlimited)),
      httpsAgent: unpooled(new HttpsAgent(unlimited)),
    }),
  });
}
