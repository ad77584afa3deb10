import { openChatBridge } from './chat-bridge.ts';
import { type LocalModel, startConverseServer } from './converse-server.ts';
import { readScript } from './model-script.ts';
import type { ModelSettings } from './model-settings.ts';
import { openSimulator } from './simulator.ts';

/** What answers agents, for as long as the deployment runs. */
export type Model = {
  /** Where Converse is served; unset for Bedrock itself, which the SDK finds by the machine's own configuration. */
  endpoint: string | undefined;
  /** Who it is that answers, in one line for whoever starts the service. */
  introduction: string;
  stop: () => Promise<void>;
};

/**
 * Starts what the settings choose.
 *
 * @throws `Problem` for a script that cannot be used
 */
export async function startModel(settings: ModelSettings): Promise<Model> {
  const introduction = `Agents are answered by ${nameOf(settings)}`;
  if (settings.kind === 'bedrock') return { endpoint: undefined, introduction, stop: async () => {} };
  return { introduction, ...(await startConverseServer(localModel(settings))) };
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
