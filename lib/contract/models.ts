/**
 * The models that this project names. No other file of code or tests spells the id of one, and the docs name only ids
 * of this file; a test checks both.
 *
 * Sources, read in October 2026: the AWS model card of Claude Sonnet 5.5 (Amazon Bedrock User Guide,
 * "model-card-anthropic-claude-sonnet-5-5": lifecycle Active, no end of life before 28 September 2027, Converse
 * supported, at most 128,000 output tokens, geographic and global inference profiles by source region), and the
 * migration guide of its maker (platform.claude.com, "Migrating to Claude Sonnet 5.5": sampling parameters are refused,
 * thinking is on by default and counts to `max_tokens`).
 */

/** The default model's name for people. */
export const standardModelName = 'Claude Sonnet 5.5';

/**
 * The default model, as its maker names it, whatever the region. Bedrock serves it by inference profiles only, so a
 * stack uses `standardProfileIn`; the models of one machine have no region.
 */
export const standardModel = 'anthropic.claude-sonnet-5-5';

/** The inference profile that may process prompts in any region of AWS: only by explicit choice. */
export const globalProfile = `global.${standardModel}`;

/** The regions from which each geographic inference profile of the default model can be used. */
const sourceRegions = {
  us: ['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2', 'ca-central-1', 'ca-west-1'],
  eu: ['eu-central-1', 'eu-central-2', 'eu-north-1', 'eu-south-1', 'eu-south-2', 'eu-west-1', 'eu-west-2', 'eu-west-3'],
} as const;

/** The geographic inference profiles of the default model. */
export const geographicProfiles = Object.keys(sourceRegions).map((geography) => `${geography}.${standardModel}`);

/**
 * Returns the default model of a region: the inference profile that keeps prompts within the region's geography.
 *
 * @returns `undefined` where the default model has none for that region
 */
export function standardProfileIn(region: string): string | undefined {
  const found = Object.entries(sourceRegions).find(([, regions]) => (regions as readonly string[]).includes(region));
  return found && `${found[0]}.${standardModel}`;
}

/**
 * The default models of earlier versions. Agents that were created without a model have one of them until they are
 * moved. AWS and the maker end Claude Sonnet 4.5 on 30 November 2026.
 */
export const formerStandardModels = ['global.anthropic.claude-sonnet-4-5-20250929-v1:0'] as const;

/** Every id that the project names. */
export const namedModels: readonly string[] = [
  standardModel,
  globalProfile,
  ...geographicProfiles,
  ...formerStandardModels,
];

/** How many tokens a model that thinks may use for that. */
const thinkingTokens = 16_384;

/**
 * Returns how many tokens a model is given for thinking, beside those of its answer; 0 for a model that does not think
 * by itself. Claude from its fifth generation on thinks before it answers and counts that to the tokens of its answer,
 * so that a short limit would leave none for the answer. An application inference profile does not show its model, and
 * counts as one that does not think.
 */
export function thinkingTokensOf(model: string): number {
  return /\banthropic\.claude-[a-z]+-(?:[5-9]|\d\d)(?:-|$)/.test(model) ? thinkingTokens : 0;
}

/**
 * Reads the list of models that agents may name.
 *
 * @param text ids separated by commas
 * @returns `undefined` where nothing is set: every model is allowed
 */
export function readAllowedModels(text: string | undefined): readonly string[] | undefined {
  const ids = (text ?? '').split(',').map((id) => id.trim());
  const named = ids.filter((id) => id !== '');
  return named.length > 0 ? named : undefined;
}

/** Returns whether a model is among the allowed ones. */
export function isAllowed(model: string, allowed: readonly string[] | undefined): boolean {
  return allowed === undefined || allowed.includes(model);
}
