import type { Agent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler, streamCollector } from '@smithy/node-http-handler';
import { clientConfig } from '../aws/client-config.ts';
import { isAllowed, readAllowedModels } from '../contract/agents/models.ts';
import { environment } from '../names/environment.ts';
import { setAnsweringModel } from './answering-model.ts';
import { boundedJson } from './bounded-json.ts';
import { type ConverseClient, createConverseModel, type Model } from './converse.ts';
import { notAllowed } from './failures.ts';

// An import of `node:http` reads all its exports, and reading `WebSocket` loads the undici of Node.js.
const { Agent: HttpAgent } = process.getBuiltinModule('node:http');

/** The longest time to open a connection. The caller limits the time of the response. */
const connectionTimeoutMs = 5_000;

/** TCP keep-alive, the first after 1 s, so that no gateway drops the connection before the model answers. */
const probed = { keepAlive: true, keepAliveInitialDelay: 1_000 };

/**
 * Makes an HTTP agent open a new connection with keep-alive for each request. A pooled connection may be closed by
 * Bedrock, or broken after its container was frozen. A request on it fails with a reset, which looks like a failure of
 * the model, and this client does not retry. A TLS handshake takes tens of milliseconds, an answer takes seconds.
 *
 * The number of connections has no limit: callers limit their concurrent questions, and a question that waits for a
 * connection would use up its caller's time.
 */
function withoutPool<A extends Agent>(agent: A): A {
  const createConnection = agent.createConnection.bind(agent);
  agent.createConnection = (options, done) => createConnection({ ...options, ...probed }, done);
  return agent;
}

const unlimited = { keepAlive: false, maxSockets: Number.POSITIVE_INFINITY };

let otherClient: ConverseClient | undefined;

/**
 * Sets the client of this process for models, instead of Bedrock's client. Call it before the first question.
 *
 * @param name the name of the model that answers all questions; absent if the model of the question answers
 */
export function setConverseClient(client: ConverseClient | undefined, name?: string): void {
  otherClient = client;
  setAnsweringModel(name);
}

/**
 * Creates the model of a deployment, which answers with a failure if the deployment does not allow the agent's model.
 * The first question creates the client. It is not in `context.ts`, so that only functions that use models bundle the
 * client.
 *
 * @param onFailure see `createConverseModel`
 */
export function createBedrockModel(
  variables: Readonly<Record<string, string | undefined>>,
  onFailure?: (error: unknown) => void,
): Model {
  let model: Model | undefined;
  return async (question) => {
    // An agent can have a model that was allowed when the agent was created.
    if (!isAllowed(question.model, readAllowedModels(variables[environment.allowedModels])))
      return { ...notAllowed, tokens: 0 };
    const { [environment.modelEndpoint]: endpoint, [environment.modelRegion]: region } = variables;
    model ??= createConverseModel(otherClient ?? createClient(endpoint, region), onFailure);
    return model(question);
  };
}

/** Uses HTTP/1.1 instead of the client's default: an HTTP/2 session breaks when its container is frozen. */
function createClient(endpoint: string | undefined, region: string | undefined): BedrockRuntimeClient {
  return new BedrockRuntimeClient({
    ...(region && { region }),
    ...clientConfig(endpoint),
    maxAttempts: 1,
    streamCollector: async (stream) => boundedJson(await streamCollector(stream)),
    requestHandler: new NodeHttpHandler({
      connectionTimeout: connectionTimeoutMs,
      httpAgent: withoutPool(new HttpAgent(unlimited)),
      httpsAgent: withoutPool(new HttpsAgent(unlimited)),
    }),
  });
}
