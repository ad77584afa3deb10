/**
 * The ids of the models that this project uses. No other file of code or tests spells a model id, and the docs use only
 * ids of this file; a test checks both.
 *
 * Sources, read in October 2026: the AWS model card of Claude Sonnet 5.5 (Amazon Bedrock User Guide,
 * "model-card-anthropic-claude-sonnet-5-5": lifecycle Active, no end of life before 28 September 2027, Converse
 * supported, at most 128,000 output tokens, geographic and global inference profiles by source region), and the
 * migration guide of its maker (platform.claude.com, "Migrating to Claude Sonnet 5.5": sampling parameters are
 * rejected, thinking is on by default and counts to `max_tokens`).
 */

/** The display name of the default model. */
export const standardModelName = 'Claude Sonnet 5.5';

/**
 * The id of the default model, without a region. Bedrock serves it only through inference profiles, so a stack uses
 * `standardProfileIn`; the local deployment has no region and uses this id.
 */
export const standardModel = 'anthropic.claude-sonnet-5-5';

/**
 * The inference profile that can process prompts in any region of AWS. A deployment uses it only if its settings name
 * it.
 */
export const globalProfile = `global.${standardModel}`;

/** The source regions of each geographic inference profile of the default model. */
const sourceRegions = {
  us: ['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2', 'ca-central-1', 'ca-west-1'],
  eu: ['eu-central-1', 'eu-central-2', 'eu-north-1', 'eu-south-1', 'eu-south-2', 'eu-west-1', 'eu-west-2', 'eu-west-3'],
} as const;

/** The geographic inference profiles of the default model. */
export const geographicProfiles = Object.keys(sourceRegions).map((geography) => `${geography}.${standardModel}`);

/**
 * Returns the default model of a region: the inference profile that keeps prompts within the region's geography.
 *
 * @returns `undefined` if the default model has no profile for the region
 */
export function standardProfileIn(region: string): string | undefined {
  const found = Object.entries(sourceRegions).find(([, regions]) => (regions as readonly string[]).includes(region));
  return found && `${found[0]}.${standardModel}`;
}

/**
 * The default models of earlier versions. Agents that were created without a model keep theirs until an operator moves
 * them. AWS and the maker end Claude Sonnet 4.5 on 30 November 2026.
 */
export const formerStandardModels = ['global.anthropic.claude-sonnet-4-5-20250929-v1:0'] as const;

/** All model ids of the project. */
export const namedModels: readonly string[] = [
  standardModel,
  globalProfile,
  ...geographicProfiles,
  ...formerStandardModels,
];

/** How hard a model thinks: by its own default, or with little effort. */
export type Effort = 'low' | undefined;

/** The number of tokens that a model may use for thinking. */
const thinkingTokens = 16_384;

/** The number of tokens for thinking with low effort. A judge or a trial that needs more has no answer. */
const lowThinkingTokens = 2_048;

/**
 * Returns the number of tokens to add to the output limit of a model for thinking; 0 for a model that does not think by
 * default. Claude models from generation 5 on think before they answer, and the thinking counts as output, so a low
 * limit could leave no tokens for the answer. The name of an application inference profile does not reveal its model;
 * the result is 0.
 */
export function thinkingTokensOf(model: string, effort?: Effort): number {
  if (!/\banthropic\.claude-[a-z]+-(?:[5-9]|\d\d)(?:-|$)/.test(model)) return 0;
  return effort === 'low' ? lowThinkingTokens : thinkingTokens;
}

/**
 * Returns whether Bedrock accepts cache points in requests to a model. It rejects the whole request of other models.
 * Claude models accept them in tools, the system prompt and messages, except Claude 3 and Claude 3.5 Sonnet, which was
 * only in a preview. Nova models reject them in tools and after tool results. An application inference profile does not
 * reveal its model; its requests are not cached.
 *
 * Source: Amazon Bedrock User Guide, "Prompt caching for faster model inference". Bedrock ignores a cache point before
 * the minimum number of tokens of the model, which is 1,024 for most models and 4,096 for some.
 */
export function supportsPromptCache(model: string): boolean {
  return /\banthropic\.claude-(?:3-5-haiku|3-7-sonnet|[a-z]+-(?:[4-9]|\d\d))(?:-|$)/.test(model);
}

/**
 * Returns whether results of tools can have a status, which Bedrock documents for Claude and Nova only (Amazon Bedrock
 * API Reference, "ToolResultBlock").
 */
export function hasResultStatus(model: string): boolean {
  return /\b(?:anthropic\.claude|amazon\.nova)-/.test(model);
}

/**
 * Returns whether Bedrock rejects text beside calls or results in one message. It does so for models of Meta and Mistral:
 * "Conversation blocks and tool use blocks cannot be provided in the same turn."
 */
export function rejectsTextBesideTools(model: string): boolean {
  return /\b(?:meta\.llama|mistral\.)/.test(model);
}

/**
 * Parses the list of models that agents may use.
 *
 * @param text ids separated by commas
 * @returns `undefined` if the list is empty: all models are allowed
 */
export function readAllowedModels(text: string | undefined): readonly string[] | undefined {
  const ids = (text ?? '').split(',').map((id) => id.trim());
  const named = ids.filter((id) => id !== '');
  return named.length > 0 ? named : undefined;
}

/** Returns whether a model is allowed. */
export function isAllowed(model: string, allowed: readonly string[] | undefined): boolean {
  return allowed === undefined || allowed.includes(model);
}
