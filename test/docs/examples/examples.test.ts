import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorStatus } from '../../../lib/contract/errors.ts';

const folder = 'docs/examples';
const page = readFileSync(`${folder}/README.md`, 'utf8');
const programs = readdirSync(folder).filter((file) => file !== 'README.md');

/** Returns the command in the first lines of a program. */
function commandOf(program: string): string | undefined {
  const text = readFileSync(`${folder}/${program}`, 'utf8');
  return /^(?:\/\/|#)? {3,4}((?:.*? )?docs\/examples\/.*)$/m.exec(text)?.[1];
}

describe('the page on examples', () => {
  it.each(programs)('lists %s with the command in its first lines', (program) => {
    const row = page.split('\n').find((line) => line.includes(`](${program})`));
    const command = commandOf(program);
    expect(command).toContain(`${folder}/${program}`);
    expect(row).toContain(`| \`${command}\` |`);
  });
});

it.each(programs)('%s uses only error codes of the contract', (program) => {
  const text = readFileSync(`${folder}/${program}`, 'utf8');
  const codes = [...text.matchAll(/\bcode(?: [!=]==? |\)" = )["']?(\w+)/g)].map(([, code]) => code);
  if (!program.includes('receiver')) expect(codes).toContain('name_taken');
  for (const code of codes) expect(Object.keys(errorStatus)).toContain(code);
});
