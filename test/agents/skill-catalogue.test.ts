import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { beforeEach, describe, expect, it } from 'vitest';
import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { Skill } from '../../lib/contract/agents/skills.ts';
import { createTemporaryFolder } from '../temporary-files.ts';

let folder: string;
beforeEach(() => {
  folder = createTemporaryFolder();
});

/** Puts a skill's file into the folder. */
function put(name: string, text: string): void {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'SKILL.md'), text);
}

/** Returns a file in the format; `yaml` is added to its front matter. */
const fileOf = (name: string, yaml = 'description: Does it.', body = '# Do it\n') =>
  `---\nname: ${name}\n${yaml}\n---\n\n${body}`;

/** Returns the lines of the error message for invalid skills. */
function errors(): string[] {
  try {
    readSkills(folder);
    return [];
  } catch (error) {
    const [title, ...lines] = (error as Error).message.split('\n');
    expect(title).toBe('These skills are invalid:');
    return lines;
  }
}

describe('the skills of the catalogue', () => {
  it('are these five, sorted by name', () => {
    const names = ['code-review', 'incident-summary', 'release-notes', 'research-brief', 'test-planning'];
    expect(readSkills().map(({ id }) => id)).toEqual(names.map((name) => `sk_${name}`));
  });

  it.each(readSkills())('$name has the shape of the contract and a description that says when to use it', (skill) => {
    expect(v.is(Skill, skill)).toBe(true);
    expect(skill.description).toMatch(/\. Use \w+/);
    expect(skill.body).toMatch(/^# /);
  });
});

it('a skill has the name of its folder, its description and the text after the front matter', () => {
  const description = 'description: " Reviews it. "\nlicense: MIT\nmetadata:\n  version: "1.0"';
  put('review', fileOf('review', description, '\n# Review\n\n---\n\nRead: all\n---\nThen judge.\n\n'));
  const body = '# Review\n\n---\n\nRead: all\n---\nThen judge.';
  expect(readSkills(folder)).toEqual([{ id: 'sk_review', name: 'review', description: 'Reviews it.', body }]);
});

it('a skill can have lines that end with CRLF', () => {
  put('review', fileOf('review', 'description: |\r\n  Reviews\r\n  it.').replaceAll(/\r?\n/g, '\r\n'));
  expect(readSkills(folder)).toMatchObject([{ name: 'review', description: 'Reviews\nit.', body: '# Do it' }]);
});

it('a skill can have a name of one letter or 64, and a description of 1,024 letters of any width', () => {
  for (const name of ['a', '0', 'x'.repeat(64), 'a-b-2']) put(name, fileOf(`"${name}"`));
  for (const letter of ['y', '😀'])
    put(`b-${letter.length}`, fileOf(`b-${letter.length}`, `description: ${letter.repeat(1024)}`));
  expect(errors()).toEqual([]);
});

it('a folder of skills can be empty, is read in the order of the names without its files, and must exist', () => {
  expect(readSkills(folder)).toEqual([]);
  expect(() => readSkills(join(folder, 'none'))).toThrow('ENOENT');
  for (const name of ['b', 'a-b', 'a', 'c']) put(name, fileOf(name));
  for (const file of ['README.md', 'SKILL.md', 'a/notes.md']) writeFileSync(join(folder, file), 'No skill.');
  expect(readSkills(folder).map(({ name }) => name)).toEqual(['a', 'a-b', 'b', 'c']);
});

describe('an invalid skill is named with its error', () => {
  const noFrontMatter = 'the file must start with front matter';
  const noText = 'the text after the front matter is missing';

  it.each([
    ['is empty', '', noFrontMatter],
    ['has no front matter', '# Review\n', noFrontMatter],
    ['has front matter that does not end', '---\nname: review\ndescription: d\n', noFrontMatter],
    ['has text before its front matter', `\n${fileOf('review')}`, noFrontMatter],
    ['has white space after its front matter', fileOf('review', 'description: d', ' \n\t\n'), noText],
    ['has another name than its folder', fileOf('reviews'), 'the name is reviews, but the folder is review'],
    ['has no name', '---\ndescription: d\n---\nx', 'name: '],
    ['has a number for a name', fileOf('7'), 'name: '],
    ['has a name in capitals', fileOf('Review'), 'name: must be kebab-case'],
    ['has a name of 65 characters', fileOf('x'.repeat(65)), 'name: '],
    ['has no description', fileOf('review', ''), 'description: '],
    ['has an empty description', fileOf('review', 'description: "  "'), 'description: must not be empty'],
    ['has a list for a description', fileOf('review', 'description: [a]'), 'description: '],
    ['has too long a description', fileOf('review', `description: ${'x'.repeat(1025)}`), 'at most 1,024 characters'],
    ['has front matter that is no YAML', fileOf('review', 'description: "open'), 'unexpected end'],
    ['has front matter with a field twice', fileOf('review', 'description: d\nname: review'), 'duplicated mapping key'],
    ['has front matter that is a word', '---\nreview\n---\nx', 'Expected Object but received "review"'],
    ['has front matter of two documents', '---\nname: review\n...\nname: x\n---\nx', 'expected a single document'],
  ])('if its file %s', (_, text, expected) => {
    put('review', text);
    const [error] = errors();
    expect(error).toMatch(/^review\/SKILL\.md: /);
    expect(error).toContain(expected);
  });

  it('with all errors of its front matter, and with all other invalid skills', () => {
    put('review', '---\nname: Review\ndescription: ""\n---\nx');
    put('good', fileOf('good'));
    put('bad', 'x');
    mkdirSync(join(folder, 'gone'));
    const [bad, gone, review] = errors();
    expect([bad?.split('/')[0], gone]).toEqual(['bad', 'gone/SKILL.md: the file is missing']);
    expect(review).toMatch(/name: must be kebab-case; description: must not be empty/);
  });
});

describe('YAML that is more than data is harmless', () => {
  it.each(['!!js/function "function () { throw 1 }"', '!!js/regexp /x/', '!!js/undefined ""', '!unknown x'])(
    'as %s, which is an error',
    (value) => {
      put('review', fileOf('review', `description: d\nextra: ${value}`));
      expect(errors()[0]).toMatch(/^review\/SKILL\.md: .*tag/);
    },
  );

  it('as nested aliases, which are not expanded into texts', () => {
    const levels = Array.from(
      { length: 40 },
      (_, nth) => `l${nth + 1}: &l${nth + 1} [${`*l${nth}, `.repeat(9)}*l${nth}]`,
    );
    put('review', fileOf('review', `description: d\nl0: &l0 x\n${levels.join('\n')}`));
    expect(readSkills(folder)).toMatchObject([{ name: 'review', description: 'd' }]);
    put('other', fileOf('other', `l0: &l0 x\n${levels.join('\n')}\ndescription: *l40`));
    expect(errors()).toEqual([expect.stringMatching(/^other\/SKILL\.md: description: .{1,200}$/)]);
  });

  it('as an alias of itself, and as keys that objects inherit', () => {
    put(
      'review',
      fileOf('review', 'description: d\nextra: &self [*self]\n__proto__:\n  polluted: yes\nconstructor:\n  name: x'),
    );
    expect(readSkills(folder)).toMatchObject([{ name: 'review', description: 'd' }]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
