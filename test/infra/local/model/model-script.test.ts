import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readScript } from '../../../../infra/local/model/model-script.ts';
import { Problem } from '../../../../infra/problem.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';

const folder = createTemporaryFolder();
const file = join(folder, 'script.json');

function read(content: string) {
  writeFileSync(file, content);
  return readScript(file);
}

it('reads every field of a rule', () => {
  const rules = [
    { match: 'a', model: 'm', times: 2, delayMs: 0, tokens: 7, text: '' },
    { match: '', throttle: true },
    { match: '', error: 'AccessDeniedException' },
    { match: '', malformed: true },
    { match: '', refusal: true },
    { match: '', stopReason: 'max_tokens' },
    { match: '', step: 3, after: 'get_task', tool: { name: 'get_task', input: { id: '{{results.0.id}}' } } },
    { match: '', tools: [{ name: 'a', input: 'broken' }] },
    { match: '', malformedTool: true },
  ];
  expect(read(JSON.stringify(rules))).toEqual(rules.map((rule) => ({ ...rule, match: expect.any(Function) })));
});

it('reads a call without input as one with an empty input', () => {
  expect(read('[{"match":"","tool":{"name":"a"}}]')).toMatchObject([{ tool: { name: 'a', input: {} } }]);
});

it.each([
  ['tea', 'green tea', true],
  ['tea', 'Tea', false],
  ['t.a', 'tea', false],
  ['', 'whatever', true],
  ['tea', '', false],
  ['/', 'either/or', true],
  ['//', 'https://', true],
  ['/^gr.*a$/', 'green tea', true],
  ['/^gr.*a$/', 'a green tea', false],
  ['/TEA/i', 'green tea', true],
  ['/a.b/s', 'a\nb', true],
  ['/tea/g', 'tea', true],
])(
  'matches %j against a user message, a system prompt and results %j, also repeatedly: %s',
  (match, prompt, answer) => {
    const [rule] = read(JSON.stringify([{ match, system: match, results: match, text: 'Yes.' }]));
    for (const _ of ['once', 'again'])
      for (const matches of [rule?.match, rule?.system, rule?.results])
        expect(matches?.(prompt) !== false).toBe(answer);
  },
);

const outcomes = [
  'text',
  'throttle',
  'error',
  'malformed',
  'refusal',
  'stopReason',
  'tool',
  'tools',
  'malformedTool',
].join(', ');
const good = { match: '', text: 'Yes.' };

it.each<[unknown, string]>([
  [{}, 'it must be a list of rules'],
  [[good, 'tea'], 'rule 2 must be an object'],
  [[{ text: 'Yes.' }], 'rule 1 (match) is missing'],
  [[{ match: 1, text: '' }], 'rule 1 (match) must be a string, or a regular expression between slashes'],
  [[{ ...good, match: '/(/' }], 'rule 1 (match) is not a valid regular expression'],
  [[{ ...good, latency: 1 }], 'rule 1 (latency) is not a known field'],
  [[{ ...good, model: '' }], 'rule 1 (model) must not be empty'],
  [[{ ...good, times: 0 }], 'rule 1 (times) must be a whole number from 1 to 1000000'],
  [[{ ...good, delayMs: -1 }], 'rule 1 (delayMs) must be a whole number from 0 to 600000'],
  [[{ ...good, delayMs: 600_001 }], 'rule 1 (delayMs) must be a whole number from 0 to 600000'],
  [[{ ...good, tokens: 1.5 }], 'rule 1 (tokens) must be a whole number from 0 to 1000000000'],
  [[{ match: '', text: 1 }], 'rule 1 (text) must be a string'],
  [[{ match: '', throttle: false }], 'rule 1 (throttle) must be true'],
  [[{ match: '', stopReason: '' }], 'rule 1 (stopReason) must not be empty'],
  [[{ ...good, step: 0 }], 'rule 1 (step) must be a whole number from 1 to 1000'],
  [[{ ...good, after: '' }], 'rule 1 (after) must not be empty'],
  [[{ ...good, results: '/(/' }], 'rule 1 (results) is not a valid regular expression'],
  [[{ match: '', tool: 'get_task' }], 'rule 1 (tool) must be an object'],
  [[{ match: '', tool: { input: {} } }], 'rule 1 (tool.name) is missing'],
  [[{ match: '', tool: { name: 1 } }], 'rule 1 (tool.name) must be a string'],
  [[{ match: '', tool: { name: 'a', id: 1 } }], 'rule 1 (tool.id) is not a known field'],
  [
    [{ match: '', tool: { name: 'a', input: [] } }],
    'rule 1 (tool.input) must be an object, or a text that stands for invalid arguments',
  ],
  [[{ match: '', tools: [] }], 'rule 1 (tools) must not be empty'],
  [[{ match: '', tools: { name: 'a' } }], 'rule 1 (tools) must be a list of calls'],
  [[{ match: '', tools: [{ name: 'a' }, {}] }], 'rule 1 (tools.1.name) is missing'],
  [[{ match: '', malformedTool: 1 }], 'rule 1 (malformedTool) must be true'],
  [[{ match: '' }], `rule 1 must have exactly one of ${outcomes}`],
  [[good, { ...good, refusal: true }], `rule 2 must have exactly one of ${outcomes}`],
])('rejects %j in one sentence that names the rule', (script, what) => {
  expect(() => read(JSON.stringify(script))).toThrow(new Problem(`MODEL_SCRIPT ${file} is invalid: ${what}.`));
});

it('lists the errors of Bedrock if a rule has an unknown one', () => {
  expect(() => read('[{"match":"","error":"TeapotException"}]')).toThrow(
    /is invalid: rule 1 \(error\) must be one of AccessDeniedException, .*ValidationException\.$/,
  );
});

it.each([
  ['script.json', 'it is not JSON'],
  ['missing.json', 'it cannot be read (ENOENT)'],
  ['', 'it cannot be read (EISDIR)'],
])('rejects a file that is not JSON or cannot be read (%j): %s', (name, what) => {
  writeFileSync(file, '[{]');
  const path = join(folder, name);
  expect(() => readScript(path)).toThrow(new Problem(`MODEL_SCRIPT ${path} is invalid: ${what}.`));
});
