import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { codeOf, Problem } from '../problem.ts';
import { bedrockErrors } from './bedrock-errors.ts';

/** The outcomes that a rule can have: exactly one. */
const outcomes = {
  text: v.optional(v.string('has to be a text')),
  throttle: v.optional(v.literal(true, 'can be true only')),
  error: v.optional(v.picklist(bedrockErrors, `has to be one of ${bedrockErrors.join(', ')}`)),
  malformed: v.optional(v.literal(true, 'can be true only')),
  refusal: v.optional(v.literal(true, 'can be true only')),
  stopReason: v.optional(v.pipe(v.string('has to be a text'), v.nonEmpty('must not be empty'))),
};
const outcomeNames = Object.keys(outcomes) as (keyof typeof outcomes)[];

const whole = (least: number, most: number) => {
  const words = `has to be a whole number from ${least} to ${most}`;
  return v.optional(v.pipe(v.number(words), v.integer(words), v.minValue(least, words), v.maxValue(most, words)));
};

/** A text to find, or a regular expression between slashes. */
const Match = v.pipe(
  v.string('has to be a text, or a regular expression between slashes'),
  v.rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
    const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(value) ?? [];
    if (source === undefined) return (user: string) => user.includes(value);
    try {
      const expression = new RegExp(source, flags);
      // Not `test`, which with some flags goes on from where it was.
      return (user: string) => user.search(expression) >= 0;
    } catch {
      addIssue({ message: 'is no regular expression' });
      return NEVER;
    }
  }),
);

const Rule = v.pipe(
  v.strictObject({
    match: Match,
    system: v.optional(Match),
    model: v.optional(v.pipe(v.string('has to be a text'), v.nonEmpty('must not be empty'))),
    times: whole(1, 1_000_000),
    delayMs: whole(0, 600_000),
    tokens: whole(0, 1_000_000_000),
    ...outcomes,
  }),
  v.check(
    (rule) => outcomeNames.filter((name) => rule[name] !== undefined).length === 1,
    `has to have exactly one of ${outcomeNames.join(', ')}`,
  ),
);

/**
 * One rule of the simulator: which questions it is for and what comes of them. `match` has become a look at the user
 * message, `system` one at the system prompt, which alone tells an agent's prompts apart; `times` is how often it holds, for ever if unset; `delayMs` stands in for the latency that is set for all;
 * `tokens` is what the call is said to have cost.
 */
export type Rule = v.InferOutput<typeof Rule>;

/**
 * Reads the simulator's script: a JSON list of rules.
 *
 * @throws `Problem` that names the first broken rule, counted from one, and what is wrong with it
 */
export function readScript(file: string): Rule[] {
  const read = v.safeParse(v.array(Rule, 'it has to be a list of rules'), jsonOf(file));
  if (read.success) return read.output;
  const [issue] = read.issues;
  const [at, field] = (issue.path ?? []).map(({ key }) => key);
  const where = at === undefined ? '' : `rule ${Number(at) + 1} `;
  throw broken(file, `${where}${field === undefined ? '' : `(${field}) `}${wordsFor(issue)}`);
}

function jsonOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw broken(file, error instanceof SyntaxError ? 'it is not JSON' : `it cannot be read (${codeOf(error)})`);
  }
}

/** valibot tells a field that is unknown, a rule that is no object and a field that is missing by what it expected. */
function wordsFor({ type, expected, message }: v.BaseIssue<unknown>): string {
  if (type !== 'strict_object') return message;
  if (expected === 'never') return 'is not known';
  return expected === 'Object' ? 'has to be an object' : 'is missing';
}

const broken = (file: string, what: string) => new Problem(`MODEL_SCRIPT ${file} cannot be used: ${what}.`);
