import type { Question } from './converse.ts';

/**
 * The bytes of a text for each token. A token of English text has about four characters (glossary of Anthropic, "Tokens":
 * 3.5 characters; tokenizer page of OpenAI: 4). Bytes instead of characters, because other scripts take more of both.
 */
const bytesPerToken = 4;

/**
 * Returns the estimated number of tokens of a question: its system prompt, its messages and its tools. A model that is
 * interrupted reports no usage. The same question always has the same estimate.
 */
export function estimatedInput({
  system,
  user,
  turns = [],
  tools = [],
}: Pick<Question, 'system' | 'user' | 'turns' | 'tools'>): number {
  const later = turns.flatMap((turn) =>
    'note' in turn ? [turn.note] : [turn.content, ...turn.results.map(({ output }) => output)],
  );
  const offered = tools.map((tool) => JSON.stringify(tool));
  const bytes = [system, user, ...later, ...offered].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return Math.ceil(bytes / bytesPerToken);
}
