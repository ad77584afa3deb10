import { simulatorName } from '../../../lib/model/answering-model.ts';
import type { ConverseClient } from '../../../lib/model/converse.ts';
import { checkChatServer, createChatModel } from './chat-model.ts';
import { converseClient, type LocalModel } from './converse-client.ts';
import { readScript } from './model-script.ts';
import type { ModelSettings } from './model-settings.ts';
import { mark } from './simulated-work.ts';
import { createSimulator } from './simulator.ts';

/** The model that answers for agents. */
export type AnsweringModel = {
  /** The client of the model; `undefined` for Bedrock itself, which the SDK's own client calls. */
  client: ConverseClient | undefined;
  /** The name of the model that answers all questions; `undefined` if the model of the question answers. */
  name: string | undefined;
  /** Asks the server of the model, if there is one, what is wrong and which model answers. */
  check: () => Promise<ModelCheck>;
};

/** What the output at the start says: a line that names the model, and what is wrong with its server, as a sentence. */
type ModelCheck = { description: string; problem: string | undefined };

/**
 * Creates the model that the settings choose.
 *
 * @throws `Problem` if the simulator's script is invalid
 */
export function createLocalModel(settings: ModelSettings): AnsweringModel {
  const server = settings.kind === 'chat' ? settings.baseUrl : undefined;
  const client = settings.kind === 'bedrock' ? undefined : converseClient(modelOf(settings), server);
  const name = settings.kind === 'simulator' ? simulatorName : undefined;
  return { client, name, check: () => checkModel(settings) };
}

async function checkModel(settings: ModelSettings): Promise<ModelCheck> {
  const checked = settings.kind === 'chat' ? await checkChatServer(settings) : { model: undefined };
  if ('problem' in checked) return { description: `Agents use ${nameOf(settings)}`, problem: checked.problem };
  return { description: `Agents use ${nameOf(settings, checked.model)}`, problem: undefined };
}

function modelOf(settings: Exclude<ModelSettings, { kind: 'bedrock' }>): LocalModel {
  if (settings.kind === 'chat') return createChatModel(settings);
  const { script, ...rest } = settings;
  return createSimulator({ ...rest, rules: script === undefined ? [] : readScript(script) });
}

/** @param model the model of the server, if it is known */
function nameOf(settings: ModelSettings, model?: string): string {
  if (settings.kind === 'bedrock') return "Amazon Bedrock, with this machine's AWS credentials and region";
  if (settings.kind === 'chat') return `${settings.name ?? model ?? 'the first model'} at ${settings.baseUrl}`;
  const [script, marked] =
    settings.script === undefined
      ? ['', 'its answers']
      : [` with the script ${settings.script}`, 'answers without a rule'];
  return `the built-in simulator${script} (set MODEL_BASE_URL for a real model). It is no model and does no work: ${marked} are marked ${mark}`;
}
