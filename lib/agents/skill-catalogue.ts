import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import * as v from 'valibot';
import type { Skill } from '../contract/skills.ts';

/** A skill of the deployment: what the catalogue shows of it, and what a model is told. */
export type CatalogueSkill = Skill & { body: string };

/** Counted in code points, like every length of ours. */
const short = v.check<string, string>((text) => [...text].length <= 1024, 'must have at most 1,024 characters');

/** What the Agent Skills format asks of the front matter (agentskills.io/specification); other fields are allowed. */
const FrontMatter = v.looseObject({
  name: v.pipe(v.string(), v.maxLength(64), v.regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be kebab-case')),
  description: v.pipe(v.string(), v.trim(), v.minLength(1, 'must not be empty'), short),
});

/** The folder that is shipped with the code, in the sources as in a bundle. */
const shipped = join(import.meta.dirname, 'skills');

/**
 * Reads every skill below a folder, in the order of their names: `<name>/SKILL.md` in the Agent Skills format.
 *
 * @throws Error that names each broken skill and what is wrong with it
 */
export function readSkills(folder: string = shipped): CatalogueSkill[] {
  const read = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((name) => readSkill(folder, name));
  const broken = read.filter((one) => typeof one === 'string');
  if (broken.length > 0) throw new Error(`These skills cannot be used:\n${broken.join('\n')}`);
  return read.filter((one) => typeof one !== 'string');
}

/** A skill, or what is wrong with it. */
function readSkill(folder: string, name: string): CatalogueSkill | string {
  try {
    const text = readFileSync(join(folder, name, 'SKILL.md'), 'utf8');
    const { front, body } = parsed(text);
    if (front.name !== name)
      throw new Error(`its name is ${front.name}, its folder's is ${name}; they must be the same`);
    return { id: `sk_${name}`, name, description: front.description, body };
  } catch (error) {
    return `${name}/SKILL.md: ${wordsFor(error)}`;
  }
}

function parsed(text: string): { front: v.InferOutput<typeof FrontMatter>; body: string } {
  const [, yaml, rest = ''] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n([\s\S]*)$/.exec(text) ?? [];
  if (yaml === undefined) throw new Error('it does not begin with front matter between two lines of ---');
  const body = rest.trim();
  if (body === '') throw new Error('there is nothing behind its front matter');
  return { front: v.parse(FrontMatter, load(yaml)), body };
}

function wordsFor(error: unknown): string {
  if (v.isValiError(error)) return error.issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`).join('; ');
  const { message, code } = error as Error & { code?: string };
  return code === 'ENOENT' ? 'the file is missing' : message;
}
