import type { ConverseClient } from '../../../lib/model/converse.ts';
import { createChatModel } from './chat-model.ts';
import { converseClient, type LocalModel } from './converse-client.ts';
import { readScript } from './model-script.ts';
import type { ModelSettings } from './model-settings.ts';
import { createSimulator } from './simulator.ts';

/** The model that answers for agents. */
export type Model = {
  /** The client of the model; `undefined` for Bedrock itself, which the SDK's own client calls. */
  client: ConverseClient | undefined;
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
  return { client, description: `Agents use ${nameOf(settings)}` };
}

function modelOf(settings: Exclude<ModelSettings, { kind: 'bedrock' }>): LocalModel {
  if (settings.kind === 'chat') return createChatModel(settings);
  const { script, ...rest } = settings;
  return createSimulator({ ...rest, rules: script === undefined ? [] : readScript(script) });
}

function nameOf(settings: ModelSettings): string {
  if (settings.kind === 'bedrock') return "Amazon Bedrock, with this machine's AWS credentials and region";
  if (settings.kind === 'chat') return `${settings.name ?? 'the first model'} at ${settings.baseUrl}`;
  return `the built-in simulator${settings.script === undefined ? '' : ` with the script ${settings.script}`} (set MODEL_BASE_URL for a real model)`;
}
