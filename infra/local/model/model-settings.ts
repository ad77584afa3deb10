import {
  globalProfile,
  isAllowed,
  readAllowedModels,
  standardModel,
  standardModelName,
  standardProfileIn,
} from '../../../lib/contract/models.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { Problem } from '../problem.ts';

/** What answers agents. */
export type ModelSettings =
  | {
      kind: 'simulator';
      /** The model of agents that name none. */
      defaultModel: string;
      /** How long an answer takes, in milliseconds. */
      latencyMs: number;
      /** The file of its rules. */
      script: string | undefined;
    }
  | {
      kind: 'chat';
      defaultModel: string;
      /** A server of the OpenAI chat protocol, such as http://127.0.0.1:11434/v1, with no slash at its end. */
      baseUrl: string;
      /** Never to be printed. */
      apiKey: string | undefined;
      /** What the server calls the model of agents that name none; the first one that it has if unset. */
      name: string | undefined;
    }
  | { kind: 'bedrock'; defaultModel: string };

const ofServers = ['MODEL_API_KEY', 'MODEL_NAME'] as const;
const ofSimulator = ['MODEL_LATENCY_MS', 'MODEL_SCRIPT'] as const;

/**
 * Reads which model answers. A setting that the chosen one would not look at is refused: whoever sets it expects
 * something of it.
 *
 * @throws `Problem` for what cannot be meant; it never quotes what a key may be in
 */
export function readModelSettings(variables: Readonly<Record<string, string | undefined>>): ModelSettings {
  const { MODEL: model = '', MODEL_BASE_URL: baseUrl = '' } = variables;
  const refuse = (names: readonly string[], where: string) => {
    const [name] = names.filter((one) => variables[one]);
    if (name) throw new Problem(`${name} is ${where}.`);
  };
  if (model !== '' && model !== 'bedrock')
    throw new Problem(`MODEL is ${JSON.stringify(model)}; set it to bedrock, or leave it unset.`);
  if (model === 'bedrock') {
    refuse(['MODEL_BASE_URL', ...ofServers, ...ofSimulator], 'set beside MODEL=bedrock; unset one of them');
    return {
      kind: 'bedrock',
      defaultModel: allowed(variables, variables[environment.defaultModel] || ofRegion(variables)),
    };
  }
  const defaultModel = allowed(variables, variables[environment.defaultModel] || standardModel);
  if (baseUrl === '') {
    refuse(ofServers, 'for the server at MODEL_BASE_URL; set that too');
    return {
      kind: 'simulator',
      defaultModel,
      latencyMs: latencyOf(variables),
      script: variables.MODEL_SCRIPT || undefined,
    };
  }
  refuse(ofSimulator, 'for the simulator, and MODEL_BASE_URL sets another model; unset one of them');
  return {
    kind: 'chat',
    defaultModel,
    baseUrl: checkedUrl(baseUrl),
    apiKey: checkedKey(variables.MODEL_API_KEY || undefined),
    name: variables.MODEL_NAME || undefined,
  };
}

/** The default model of the region that the SDK finds in the environment. */
function ofRegion(variables: Readonly<Record<string, string | undefined>>): string {
  const region = variables[environment.modelRegion] || variables.AWS_REGION || variables.AWS_DEFAULT_REGION;
  const profile = region && standardProfileIn(region);
  if (profile) return profile;
  throw new Problem(
    region
      ? `${standardModelName} has no inference profile that keeps prompts near ${region}; set DEFAULT_MODEL, to ${globalProfile} if prompts may be processed in any region.`
      : 'MODEL=bedrock needs a region to choose the default model by; set AWS_REGION or DEFAULT_MODEL.',
  );
}

/** A default model, which has to be among the allowed ones. */
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

function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new Problem(
      'MODEL_BASE_URL cannot be used; set it to a URL such as http://127.0.0.1:11434/v1, with a key in MODEL_API_KEY alone.',
    );
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function checkedKey(key: string | undefined): string | undefined {
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    throw new Problem('MODEL_API_KEY has characters that no key has, such as a space or the end of a line.');
  return key;
}
