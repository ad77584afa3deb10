import { join } from 'node:path';
import type { ConverseClient } from '../../../lib/model/converse.ts';
import { checkChatServer, createChatModel } from './chat-model.ts';
import { converseClient, type LocalModel } from './converse-client.ts';
import { readScript } from './model-script.ts';
import type { ModelSettings } from './model-settings.ts';
import { createSimulator } from './simulator.ts';

/** The rules for the agent of the demo that calls tools. */
const demoScript = join(import.meta.dirname, '..', 'demo', 'demo-script.json');

/** The model that answers for agents. */
export type Model = {
  /** The client of the model; `undefined` for Bedrock itself, which the SDK's own client calls. */
  client: ConverseClient | undefined;
  /** The name of the model that answers all questions; `undefined` if the model of the question answers. */
  name: string | undefined;
  /** Returns what is wrong with the server of the model, as a sentence; `undefined` if nothing is, or without a server. */
  check: () => Promise<string | undefined>;
  /** A line that names the model, for the output at the start. */
  description: string;
};

/**
 * Creates the model that the settings choose.
 *
 * @throws `Problem` if the simulator's script is invalid
 */
export function createLocalModel(settings: ModelSettings): Model {
  const client = settings.kind === 'bedrock' ? undefined : converseClient(modelOf(settings));
  const name = settings.kind === 'simulator' ? 'simulator' : undefined;
  const check = async () => (settings.kind === 'chat' ? checkChatServer(settings) : undefined);
  return { client, name, check, description: `Agents use ${nameOf(settings)}` };
}

function modelOf(settings: Exclude<ModelSettings, { kind: 'bedrock' }>): LocalModel {
  if (settings.kind === 'chat') return createChatModel(settings);
  const { script, ...rest } = settings;
  // The demo's rules come last, so that those of a script can replace them.
  const rules = [...(script === undefined ? [] : readScript(script)), ...readScript(demoScript)];
  return createSimulator({ ...rest, rules });
}

function nameOf(settings: ModelSettings): string {
  if (settings.kind === 'bedrock') return "Amazon Bedrock, with this machine's AWS credentials and region";
  if (settings.kind === 'chat') return `${settings.name ?? 'the first model'} at ${settings.baseUrl}`;
  return `the built-in simulator${settings.script === undefined ? '' : ` with the script ${settings.script}`} (set MODEL_BASE_URL for a real model)`;
}
