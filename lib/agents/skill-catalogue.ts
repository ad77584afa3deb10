import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import * as v from 'valibot';
import type { Skill } from '../contract/agents/skills.ts';
import { codePoints } from '../contract/texts/code-points.ts';

/** A skill of the catalogue with its text for models. */
export type CatalogueSkill = Skill & { body: string };

/** Limits the length of a description, in Unicode code points. */
const maxLength = v.check<string, string>((text) => codePoints(text) <= 1024, 'must have at most 1,024 characters');

/** The front matter of the Agent Skills format (agentskills.io/specification). Other fields are allowed. */
const FrontMatter = v.looseObject({
  name: v.pipe(v.string(), v.maxLength(64), v.regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be kebab-case')),
  description: v.pipe(v.string(), v.trim(), v.minLength(1, 'must not be empty'), maxLength),
});

/** The folder of the catalogue. A bundle has it at the same place as the sources. */
const catalogueFolder = join(import.meta.dirname, 'skills');

/**
 * Reads all skills of a folder, sorted by name. Each skill is a file `<name>/SKILL.md` in the Agent Skills format.
 *
 * @throws Error with the names and faults of all invalid skills
 */
export function readSkills(folder: string = catalogueFolder): CatalogueSkill[] {
  const read = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((name) => readSkill(folder, name));
  const faults = read.filter((one) => typeof one === 'string');
  if (faults.length > 0) throw new Error(`These skills are invalid:\n${faults.join('\n')}`);
  return read.filter((one) => typeof one !== 'string');
}

/** Returns a skill, or its fault as a text. */
function readSkill(folder: string, name: string): CatalogueSkill | string {
  try {
    const text = readFileSync(join(folder, name, 'SKILL.md'), 'utf8');
    const { front, body } = parsed(text);
    if (front.name !== name)
      throw new Error(`the name is ${front.name}, but the folder is ${name}; use the same name for both`);
    return { id: `sk_${name}`, name, description: front.description, body };
  } catch (error) {
    return `${name}/SKILL.md: ${messageOf(error)}`;
  }
}

function parsed(text: string): { front: v.InferOutput<typeof FrontMatter>; body: string } {
  const [, yaml, rest = ''] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n([\s\S]*)$/.exec(text) ?? [];
  if (yaml === undefined) throw new Error('the file must start with front matter between two lines of ---');
  const body = rest.trim();
  if (body === '') throw new Error('the text after the front matter is missing');
  return { front: v.parse(FrontMatter, load(yaml)), body };
}

function messageOf(error: unknown): string {
  if (v.isValiError(error)) return error.issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`).join('; ');
  const { message, code } = error as Error & { code?: string };
  return code === 'ENOENT' ? 'the file is missing' : message;
}
