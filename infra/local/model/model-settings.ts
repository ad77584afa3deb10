import {
  globalProfile,
  isAllowed,
  readAllowedModels,
  standardModel,
  standardModelName,
  standardProfileIn,
} from '../../../lib/contract/agents/models.ts';
import { environment } from '../../../lib/names/environment.ts';
import { Problem } from '../../problem.ts';

/** The settings of the model that answers for agents. */
export type ModelSettings =
  | {
      kind: 'simulator';
      /** The default model of agents. */
      defaultModel: string;
      /** The latency of an answer, in milliseconds. */
      latencyMs: number;
      /** The path of the file of rules. */
      script: string | undefined;
    }
  | {
      kind: 'chat';
      defaultModel: string;
      /** The URL of a server of the OpenAI chat protocol, such as http://127.0.0.1:11434/v1, without a slash at the end. */
      baseUrl: string;
      /** It must not be printed. */
      apiKey: string | undefined;
      /** The server's name of the default model; unset: the first model of the server. */
      name: string | undefined;
      /** The most tokens of an answer; unset: as many as a question allows. */
      maxTokens: number | undefined;
    }
  | { kind: 'bedrock'; defaultModel: string };

const serverSettings = ['MODEL_API_KEY', 'MODEL_NAME', 'MODEL_MAX_TOKENS'] as const;
const simulatorSettings = ['MODEL_LATENCY_MS', 'MODEL_SCRIPT'] as const;

/**
 * Reads the settings of the model. A setting that has no effect on the chosen model is an error, because the user expects
 * an effect.
 *
 * @throws `Problem` for an invalid setting; the message contains no value that may be a key
 */
export function readModelSettings(variables: Readonly<Record<string, string | undefined>>): ModelSettings {
  const { MODEL: model = '', MODEL_BASE_URL: baseUrl = '' } = variables;
  const rejectAll = (names: readonly string[], reason: string) => {
    const [name] = names.filter((one) => variables[one]);
    if (name) throw new Problem(`${name} ${reason}.`);
  };
  if (model !== '' && model !== 'bedrock')
    throw new Problem(`MODEL is ${JSON.stringify(model)}; set it to bedrock, or leave it unset.`);
  if (model === 'bedrock') {
    const others = ['MODEL_BASE_URL', ...serverSettings, ...simulatorSettings];
    rejectAll(others, 'has no effect together with MODEL=bedrock; unset one of them');
    return {
      kind: 'bedrock',
      defaultModel: allowed(variables, variables[environment.defaultModel] || ofRegion(variables)),
    };
  }
  const defaultModel = allowed(variables, variables[environment.defaultModel] || standardModel);
  if (baseUrl === '') {
    rejectAll(serverSettings, 'needs MODEL_BASE_URL; set both');
    return {
      kind: 'simulator',
      defaultModel,
      latencyMs: latencyOf(variables),
      script: variables.MODEL_SCRIPT || undefined,
    };
  }
  rejectAll(simulatorSettings, 'is a setting of the simulator, which MODEL_BASE_URL replaces; unset one of them');
  return {
    kind: 'chat',
    defaultModel,
    baseUrl: checkedUrl(baseUrl),
    apiKey: checkedKey(variables.MODEL_API_KEY || undefined),
    name: variables.MODEL_NAME || undefined,
    maxTokens: maxTokensOf(variables),
  };
}

/** Returns the default model of the region that the environment variables set. */
function ofRegion(variables: Readonly<Record<string, string | undefined>>): string {
  const region = variables[environment.modelRegion] || variables.AWS_REGION || variables.AWS_DEFAULT_REGION;
  const profile = region && standardProfileIn(region);
  if (profile) return profile;
  throw new Problem(
    region
      ? `${standardModelName} has no inference profile for the geography of ${region}; set DEFAULT_MODEL, to ${globalProfile} if prompts may be processed in any region.`
      : 'The default model for MODEL=bedrock depends on the region; set AWS_REGION or DEFAULT_MODEL.',
  );
}

/** Returns a default model, if it is allowed. */
function allowed(variables: Readonly<Record<string, string | undefined>>, defaultModel: string): string {
  const models = readAllowedModels(variables[environment.allowedModels]);
  if (isAllowed(defaultModel, models)) return defaultModel;
  throw new Problem(
    `The default model ${defaultModel} is not in ALLOWED_MODELS; set DEFAULT_MODEL to one of ${models?.join(', ')}.`,
  );
}

function latencyOf({ MODEL_LATENCY_MS: text = '' }: Readonly<Record<string, string | undefined>>): number {
  if (text === '') return 0;
  if (!/^\d{1,6}$/.test(text) || Number(text) > 600_000)
    throw new Problem(
      `MODEL_LATENCY_MS is ${JSON.stringify(text)}; set it to a whole number of milliseconds from 0 to 600000.`,
    );
  return Number(text);
}

function maxTokensOf({
  MODEL_MAX_TOKENS: text = '',
}: Readonly<Record<string, string | undefined>>): number | undefined {
  if (text === '') return undefined;
  if (!/^[1-9]\d{0,6}$/.test(text))
    throw new Problem(
      `MODEL_MAX_TOKENS is ${JSON.stringify(text)}; set it to a whole number of tokens from 1 to 9999999.`,
    );
  return Number(text);
}

function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new Problem(
      'MODEL_BASE_URL is invalid; set it to a URL such as http://127.0.0.1:11434/v1, and a key by MODEL_API_KEY only.',
    );
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function checkedKey(key: string | undefined): string | undefined {
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    throw new Problem('MODEL_API_KEY has invalid characters, such as a space or a line break; set it to the key only.');
  return key;
}
