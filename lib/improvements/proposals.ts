import * as v from 'valibot';

/** An edit of a prompt: something added at its end, or one passage of it replaced. */
export type Edit = { append: string } | { replace: string; with: string };

/** What the improver proposes, and why; without an edit, why it proposes none. */
export type Proposal = { summary: string; edit: Edit | undefined };

/** The most characters of an edit: a model cannot write a whole long prompt anew in the time of a pass. */
const longestEdit = 1_000;
const longestPrompt = 50_000;
const longestSummary = 500;

const Answer = v.object({
  summary: v.pipe(v.string(), v.trim(), v.minLength(1)),
  append: v.optional(v.string()),
  replace: v.optional(v.string()),
  with: v.optional(v.string()),
});

const lengthOf = (text: string) => [...text].length;

/** Reads a proposal out of an answer, from its first brace to its last; `undefined` where there is none to be read. */
export function proposalOf(answer: string): Proposal | undefined {
  const read = v.safeParse(Answer, jsonIn(answer));
  if (!read.success) return undefined;
  const { summary, append, replace, with: by } = read.output;
  const short = [...summary.toWellFormed()].slice(0, longestSummary).join('');
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

/** The prompt that an edit makes of a prompt, or why it cannot be made. */
export function edited(prompt: string, edit: Edit): { prompt: string } | { fault: string } {
  const text = 'append' in edit ? edit.append : edit.with;
  if (lengthOf(text) > longestEdit) return { fault: `its edit has more than ${longestEdit} characters` };
  const next = 'append' in edit ? appended(prompt, edit.append) : replaced(prompt, edit);
  if (next === undefined) return { fault: 'the passage that it would replace is not in the prompt, or more than once' };
  if (next === prompt) return { fault: 'its edit changes nothing' };
  // A passage may begin or end within a character as well.
  if (!next.isWellFormed()) return { fault: 'its edit is not well-formed text' };
  if (lengthOf(next) > longestPrompt) return { fault: `the prompt would have more than ${longestPrompt} characters` };
  return { prompt: next };
}

function appended(prompt: string, text: string): string {
  const added = text.trim();
  if (added === '') return prompt;
  return prompt.trim() === '' ? added : `${prompt}\n\n${added}`;
}

function replaced(prompt: string, edit: { replace: string; with: string }): string | undefined {
  const at = prompt.indexOf(edit.replace);
  // The last may overlap the first: then it is not known which is meant.
  if (edit.replace === '' || at < 0 || at !== prompt.lastIndexOf(edit.replace)) return undefined;
  return prompt.slice(0, at) + edit.with + prompt.slice(at + edit.replace.length);
}
