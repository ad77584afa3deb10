import type { ModelAnswer, Question, ToolCall } from '../../lib/model/converse.ts';

/** A call that a script requests: the name of a tool and its arguments. */
export type ScriptedCall = [name: string, input: Record<string, unknown> | undefined];

/** A message of a scripted model: calls of tools, a text, or any other answer. */
type Message = readonly ScriptedCall[] | string | ModelAnswer;

/** The messages of a model in their order. A function returns its message for the question before it. */
export type Script = readonly (Message | ((question: Question) => Message))[];

/** Returns an answer that requests calls. Each message takes 10 tokens. */
export function requesting(calls: readonly ScriptedCall[], message = 0): ModelAnswer {
  const requested = calls.map(([name, input], at): ToolCall => ({ id: `call-${message}-${at}`, name, input }));
  return { kind: 'tools', content: JSON.stringify(requested), text: '', calls: requested, tokens: 10 };
}

/**
 * Returns the answers of a model that sends messages in their order. Which one follows depends only on the exchanges in
 * the question, as in a real conversation.
 */
export function conversation(messages: Script) {
  return (question: Question): ModelAnswer => {
    const nth = question.turns?.length ?? 0;
    const next = messages[nth];
    const message = typeof next === 'function' ? next(question) : next;
    if (message === undefined) throw new Error(`The script has no message ${nth + 1}.`);
    if (typeof message === 'string') return { kind: 'text', text: message, tokens: 10 };
    return 'kind' in message ? (message as ModelAnswer) : requesting(message, nth);
  };
}

/** Returns the results of the last exchange in a question, parsed. */
export function lastResults({ turns = [] }: Question): { data?: { id: string }; error?: { code: string } }[] {
  const last = turns.at(-1);
  return last && 'results' in last ? last.results.map(({ output }) => JSON.parse(output)) : [];
}
