import type { ConverseClient } from '../../../lib/model/converse.ts';
import { openChatBridge } from './chat-bridge.ts';
import { converseClient, type LocalModel } from './converse-client.ts';
import { readScript } from './model-script.ts';
import type { ModelSettings } from './model-settings.ts';
import { openSimulator } from './simulator.ts';

/** What answers agents. */
export type Model = {
  /** The client that asks it; unset for Bedrock itself, which the SDK finds by the machine's own configuration. */
  client: ConverseClient | undefined;
  /** Who it is that answers, in one line for whoever starts the service. */
  introduction: string;
};

/**
 * Opens what the settings choose.
 *
 * @throws `Problem` for a script that cannot be used
 */
export function openLocalModel(settings: ModelSettings): Model {
  const client = settings.kind === 'bedrock' ? undefined : converseClient(localModel(settings));
  return { client, introduction: `Agents are answered by ${nameOf(settings)}` };
}

function localModel(settings: Exclude<ModelSettings, { kind: 'bedrock' }>): LocalModel {
  if (settings.kind === 'chat') return openChatBridge(settings);
  const { script, ...rest } = settings;
  return openSimulator({ ...rest, rules: script === undefined ? [] : readScript(script) });
}

function nameOf(settings: ModelSettings): string {
  if (settings.kind === 'bedrock') return "Amazon Bedrock, with this machine's AWS credentials and region";
  if (settings.kind === 'chat') return `${settings.name ?? 'the first model'} at ${settings.baseUrl}`;
  return `the built-in simulator${settings.script === undefined ? '' : `, by ${settings.script}`} (set MODEL_BASE_URL for a real model)`;
}
