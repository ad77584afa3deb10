import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readScript } from '../../../../infra/local/model/model-script.ts';
import { Problem } from '../../../../infra/local/problem.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';

const folder = createTemporaryFolder();
const file = join(folder, 'script.json');

/** Reads a script with this content. */
function read(content: string) {
  writeFileSync(file, content);
  return readScript(file);
}

const matches = (match: string, user: string) => read(JSON.stringify([{ match, text: 'Yes.' }]))[0]?.match(user);

it('takes all that a rule can say', () => {
  const rules = [
    { match: 'a', model: 'm', times: 2, delayMs: 0, tokens: 7, text: '' },
    { match: '', throttle: true },
    { match: '', error: 'AccessDeniedException' },
    { match: '', malformed: true },
    { match: '', refusal: true },
    { match: '', stopReason: 'max_tokens' },
  ];
  expect(read(JSON.stringify(rules))).toEqual(rules.map((rule) => ({ ...rule, match: expect.any(Function) })));
});

it.each([
  ['cite', 'Always cite.', true],
  ['/CITE/i', 'Always cite.', true],
  ['cite', '', false],
])('finds %j in a system prompt as in a user message: of %j that is %j', (system, prompt, found) => {
  const [rule] = read(JSON.stringify([{ match: '', system, text: 'Yes.' }]));
  expect(rule?.system?.(prompt)).toBe(found);
});

it('takes an empty script', () => {
  expect(read('[]')).toEqual([]);
});

it.each([
  ['tea', 'green tea', true],
  ['tea', 'Tea', false],
  ['t.a', 'tea', false],
  ['', 'whatever', true],
  ['/', 'either/or', true],
  ['//', 'https://', true],
  ['/^gr.*a$/', 'green tea', true],
  ['/^gr.*a$/', 'a green tea', false],
  ['/TEA/i', 'green tea', true],
  ['/a.b/s', 'a\nb', true],
])('the match %j of %j is %s', (match, user, answer) => {
  expect(matches(match, user)).toBe(answer);
});

it('finds an expression again, whatever its flags', () => {
  const [rule] = read(JSON.stringify([{ match: '/tea/g', text: 'Yes.' }]));
  expect([rule?.match('tea'), rule?.match('tea')]).toEqual([true, true]);
});

const outcomes = 'text, throttle, error, malformed, refusal, stopReason';
const good = { match: '', text: 'Yes.' };

it.each<[unknown, string]>([
  [{}, 'it has to be a list of rules'],
  [null, 'it has to be a list of rules'],
  [[good, 'tea'], 'rule 2 has to be an object'],
  [[null], 'rule 1 has to be an object'],
  [[{ text: 'Yes.' }], 'rule 1 (match) is missing'],
  [
    [good, good, { match: 1, text: 'Yes.' }],
    'rule 3 (match) has to be a text, or a regular expression between slashes',
  ],
  [[{ ...good, match: '/(/' }], 'rule 1 (match) is no regular expression'],
  [[{ ...good, match: '/a/q' }], 'rule 1 (match) is no regular expression'],
  [[{ ...good, latency: 1 }], 'rule 1 (latency) is not known'],
  [[{ ...good, model: '' }], 'rule 1 (model) must not be empty'],
  [[{ ...good, model: 1 }], 'rule 1 (model) has to be a text'],
  [[{ ...good, times: 0 }], 'rule 1 (times) has to be a whole number from 1 to 1000000'],
  [[{ ...good, times: '2' }], 'rule 1 (times) has to be a whole number from 1 to 1000000'],
  [[{ ...good, delayMs: -1 }], 'rule 1 (delayMs) has to be a whole number from 0 to 600000'],
  [[{ ...good, delayMs: 600_001 }], 'rule 1 (delayMs) has to be a whole number from 0 to 600000'],
  [[{ ...good, tokens: 1.5 }], 'rule 1 (tokens) has to be a whole number from 0 to 1000000000'],
  [[{ match: '', text: 1 }], 'rule 1 (text) has to be a text'],
  [[{ match: '', throttle: false }], 'rule 1 (throttle) can be true only'],
  [[{ match: '', malformed: 'yes' }], 'rule 1 (malformed) can be true only'],
  [[{ match: '', refusal: 1 }], 'rule 1 (refusal) can be true only'],
  [[{ match: '', stopReason: '' }], 'rule 1 (stopReason) must not be empty'],
  [[{ match: '' }], `rule 1 has to have exactly one of ${outcomes}`],
  [[good, { ...good, refusal: true }], `rule 2 has to have exactly one of ${outcomes}`],
])('refuses %j in one sentence that names the rule', (script, what) => {
  expect(() => read(JSON.stringify(script))).toThrow(new Problem(`MODEL_SCRIPT ${file} cannot be used: ${what}.`));
});

it('names the errors that there are, where it is given another', () => {
  expect(() => read('[{"match":"","error":"TeapotException"}]')).toThrow(
    /cannot be used: rule 1 \(error\) has to be one of AccessDeniedException, .*ValidationException\.$/,
  );
});

it('refuses what is not JSON', () => {
  expect(() => read('[{]')).toThrow(new Problem(`MODEL_SCRIPT ${file} cannot be used: it is not JSON.`));
});

it.each([
  ['missing.json', 'ENOENT'],
  ['', 'EISDIR'],
])('refuses a file that cannot be read (%j)', (name, code) => {
  const path = join(folder, name);
  expect(() => readScript(path)).toThrow(
    new Problem(`MODEL_SCRIPT ${path} cannot be used: it cannot be read (${code}).`),
  );
});
