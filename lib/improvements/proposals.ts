import * as v from 'valibot';
import { codePoints, startOf } from '../contract/texts/code-points.ts';
import { unescaped } from '../executions/prompts/sections.ts';

/** An edit of a prompt: a text to append, or a passage to replace. */
export type Edit = { append: string } | { replace: string; with: string };

/** The proposal of the improver with its reason; without an edit, the reason why there is none. */
export type Proposal = { summary: string; edit: Edit | undefined };

/** The maximum number of characters of an edit. A model has no time to write a long prompt anew in a pass. */
const longestEdit = 1_000;
const longestPrompt = 50_000;
const longestSummary = 500;

const Answer = v.object({
  summary: v.pipe(v.string(), v.trim(), v.minLength(1)),
  append: v.optional(v.string()),
  replace: v.optional(v.string()),
  with: v.optional(v.string()),
});

/**
 * Reads the proposal of an answer, from its first brace to its last; `undefined` if it has none. The improver has read the
 * prompt in a section, so its texts can have escaped tags.
 */
export function proposalOf(answer: string): Proposal | undefined {
  const parsed = v.safeParse(Answer, jsonIn(answer));
  if (!parsed.success) return undefined;
  const { summary, ...texts } = parsed.output;
  const [append, replace, by] = [texts.append, texts.replace, texts.with].map((text) => text && unescaped(text));
  const short = startOf(unescaped(summary).toWellFormed(), longestSummary);
  if (append !== undefined && replace === undefined) return { summary: short, edit: { append } };
  if (replace !== undefined && by !== undefined && append === undefined)
    return { summary: short, edit: { replace, with: by } };
  return append === undefined && replace === undefined ? { summary: short, edit: undefined } : undefined;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  } catch {
    return undefined;
  }
}

/** Applies an edit to a prompt; returns the new prompt, or why the edit cannot be applied. */
export function edited(prompt: string, edit: Edit): { prompt: string } | { fault: string } {
  const text = 'append' in edit ? edit.append : edit.with;
  if (codePoints(text) > longestEdit) return { fault: `its edit has more than ${longestEdit} characters` };
  const next = 'append' in edit ? appended(prompt, edit.append) : replaced(prompt, edit);
  if (next === undefined) return { fault: 'the passage that it would replace is not in the prompt, or more than once' };
  if (next === prompt) return { fault: 'its edit changes nothing' };
  // A passage may begin or end inside a surrogate pair.
  if (!next.isWellFormed()) return { fault: 'its edit is not well-formed text' };
  if (codePoints(next) > longestPrompt) return { fault: `the prompt would have more than ${longestPrompt} characters` };
  return { prompt: next };
}

function appended(prompt: string, text: string): string {
  const added = text.trim();
  if (added === '') return prompt;
  return prompt.trim() === '' ? added : `${prompt}\n\n${added}`;
}

function replaced(prompt: string, edit: { replace: string; with: string }): string | undefined {
  const at = prompt.indexOf(edit.replace);
  // Two places, which may overlap: it is not known which one is meant.
  if (edit.replace === '' || at < 0 || at !== prompt.lastIndexOf(edit.replace)) return undefined;
  return prompt.slice(0, at) + edit.with + prompt.slice(at + edit.replace.length);
}
