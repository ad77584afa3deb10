import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { codeOf, Problem } from '../../problem.ts';
import { bedrockErrors } from './bedrock-errors.ts';

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A call of a tool. A text for input stands for arguments that are no JSON object. */
const Call = v.strictObject({
  name: v.string('must be a string'),
  input: v.optional(
    v.custom<Record<string, unknown> | string>(
      (value) => typeof value === 'string' || isObject(value),
      'must be an object, or a text that stands for invalid arguments',
    ),
    {},
  ),
});

/** The outcomes of a rule, which has exactly one of them. */
const outcomes = {
  text: v.optional(v.string('must be a string')),
  throttle: v.optional(v.literal(true, 'must be true')),
  error: v.optional(v.picklist(bedrockErrors, `must be one of ${bedrockErrors.join(', ')}`)),
  malformed: v.optional(v.literal(true, 'must be true')),
  refusal: v.optional(v.literal(true, 'must be true')),
  stopReason: v.optional(v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'))),
  tool: v.optional(Call),
  tools: v.optional(v.pipe(v.array(Call, 'must be a list of calls'), v.nonEmpty('must not be empty'))),
  malformedTool: v.optional(v.literal(true, 'must be true')),
};
const outcomeNames = Object.keys(outcomes) as (keyof typeof outcomes)[];

const whole = (least: number, most: number) => {
  const words = `must be a whole number from ${least} to ${most}`;
  return v.optional(v.pipe(v.number(words), v.integer(words), v.minValue(least, words), v.maxValue(most, words)));
};

/**
 * A string to find, or a regular expression between slashes. The function returns whether a text has it; for a regular
 * expression the match and its groups.
 */
const Match = v.pipe(
  v.string('must be a string, or a regular expression between slashes'),
  v.rawTransform(({ dataset: { value }, addIssue, NEVER }): ((text: string) => boolean | readonly string[]) => {
    const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(value) ?? [];
    if (source === undefined) return (text) => text.includes(value);
    try {
      const expression = new RegExp(source, flags);
      return (text) => {
        // With some flags the search would start after the previous match.
        expression.lastIndex = 0;
        return expression.exec(text) ?? false;
      };
    } catch {
      addIssue({ message: 'is not a valid regular expression' });
      return NEVER;
    }
  }),
);

const Rule = v.pipe(
  v.strictObject({
    match: Match,
    system: v.optional(Match),
    model: v.optional(v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'))),
    step: whole(1, 1_000),
    after: v.optional(v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'))),
    results: v.optional(Match),
    times: whole(1, 1_000_000),
    delayMs: whole(0, 600_000),
    tokens: whole(0, 1_000_000_000),
    ...outcomes,
  }),
  v.check(
    (rule) => outcomeNames.filter((name) => rule[name] !== undefined).length === 1,
    `must have exactly one of ${outcomeNames.join(', ')}`,
  ),
);

/**
 * A rule of the simulator: conditions and an outcome. `match` tests the user message and `system` the system prompt, which
 * alone differs between the prompts of an agent. `step` is the number of the model's message in a conversation with tools,
 * `after` a tool that its previous message called, and `results` tests the results of those calls. `times` is how often the rule applies; unset: without limit. `delayMs`
 * replaces the latency of the simulator. `tokens` is the number of tokens that the reply reports.
 */
export type Rule = v.InferOutput<typeof Rule>;

/**
 * Reads the simulator's script: a JSON list of rules.
 *
 * @throws `Problem` with the number of the first invalid rule, counted from one, and its error
 */
export function readScript(file: string): Rule[] {
  const read = v.safeParse(v.array(Rule, 'it must be a list of rules'), jsonOf(file));
  if (read.success) return read.output;
  const [issue] = read.issues;
  const [at, ...fields] = (issue.path ?? []).map(({ key }) => key);
  const where = at === undefined ? '' : `rule ${Number(at) + 1} `;
  throw invalidScript(file, `${where}${fields.length === 0 ? '' : `(${fields.join('.')}) `}${wordsFor(issue)}`);
}

function jsonOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw invalidScript(file, error instanceof SyntaxError ? 'it is not JSON' : `it cannot be read (${codeOf(error)})`);
  }
}

/** Returns the message of an issue. For an object, valibot's `expected` says which of three errors it is. */
function wordsFor({ type, expected, message }: v.BaseIssue<unknown>): string {
  if (type !== 'strict_object') return message;
  if (expected === 'never') return 'is not a known field';
  return expected === 'Object' ? 'must be an object' : 'is missing';
}

const invalidScript = (file: string, error: string) => new Problem(`MODEL_SCRIPT ${file} is invalid: ${error}.`);
