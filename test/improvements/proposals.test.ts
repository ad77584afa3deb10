import { describe, expect, it } from 'vitest';
import { type Edit, edited, proposalOf } from '../../lib/improvements/proposals.ts';

const json = (fields: object) => JSON.stringify({ summary: 'Why.', ...fields });

describe('a proposal is read', () => {
  const answer = json({ append: 'Be brief.' });

  it.each([
    ['alone', answer],
    ['on several lines', JSON.stringify(JSON.parse(answer), null, 2)],
    ['in prose', `Here is what I propose:\n${answer}\nI hope that it helps.`],
    ['in a code fence', `\`\`\`json\n${answer}\n\`\`\``],
    ['in a code fence in prose', `Look:\n\n\`\`\`\n${answer}\n\`\`\`\n\nThat is all.`],
    ['after a byte order mark', `\ufeff${answer}`],
    ['with unknown fields', json({ append: 'Be brief.', confidence: 0.9, notes: { a: [{}] } })],
    [
      'with unknown fields that are nested deep',
      `{"summary":"Why.","append":"Be brief.","a":${'['.repeat(1e5)}${']'.repeat(1e5)}}`,
    ],
    ['with the text of a replacement, which it ignores', json({ append: 'Be brief.', with: 'x' })],
  ])('%s', (_, said) => {
    expect(proposalOf(said)).toEqual({ summary: 'Why.', edit: { append: 'Be brief.' } });
  });

  it.each([
    ['that replaces a passage', { replace: 'Write.', with: '' }],
    ['with braces, quotes and line ends in its text', { append: 'Answer {"a": {"b": "}"}}\n```json\n{}\n```' }],
    ['that proposes nothing', undefined],
  ])('%s', (_, edit) => {
    expect(proposalOf(`So: ${json(edit ?? {})}`)).toEqual({ summary: 'Why.', edit });
  });

  it('with the tags of sections as they are in the prompt, which the improver has read escaped', () => {
    const escaped = { replace: 'Read &lt;input> and &lt;b>.', with: 'Read &lt;/task> & <input>.' };
    const edit = { replace: 'Read <input> and &lt;b>.', with: 'Read </task> & <input>.' };
    expect(proposalOf(json(escaped))?.edit).toEqual(edit);
  });

  it('with the first 500 characters of its summary, well-formed and without white space around it', () => {
    const summaryOf = (summary: string) => proposalOf(json({ summary }))?.summary;
    expect(summaryOf(` ${'😀'.repeat(501)} `)).toBe('😀'.repeat(500));
    expect(summaryOf('Half \ud83d.')).toBe('Half \ufffd.');
  });
});

it.each([
  ['nothing', ''],
  ['a million braces', '{'.repeat(1_000_000)],
  ['prose', 'The prompt is fine.'],
  ['half an object', '{"summary":"Why.","append":"Be'],
  ['no JSON', "{summary: 'Why.'}"],
  ['two objects', `${json({})}\n${json({})}`],
  ['braces in the prose around it', `Fill {name} in: ${json({})}`],
  ['braces the wrong way round', '} and {'],
  ['a text', '"Why."'],
  ['null', 'null'],
  ['an object without a summary', '{"append":"Be brief."}'],
  ['a blank summary', json({ summary: ' \n' })],
  ['a summary that is no text', json({ summary: ['Why.'] })],
  ['a text to add that is null', json({ append: null })],
  ['a list of texts to add', json({ append: ['Be brief.'] })],
  ['a passage that is no text', json({ replace: { a: 1 }, with: 'x' })],
  ['a replacement that is no text', json({ replace: 'Write.', with: false })],
  ['a passage and nothing in its place', json({ replace: 'Write.' })],
  ['both kinds of edit', json({ append: 'x', replace: 'Write.', with: 'y' })],
  ['both kinds of edit by half', json({ append: 'x', replace: 'Write.' })],
])('no proposal is read in %s', (_, said) => {
  expect(proposalOf(said)).toBeUndefined();
});

const made = (prompt: string, edit: Edit) => {
  const result = edited(prompt, edit);
  return 'prompt' in result ? result.prompt : result.fault;
};
const notOnce = 'the passage that it would replace is not in the prompt, or more than once';
const nothing = 'its edit changes nothing';
const malformed = 'its edit is not well-formed text';

it.each([
  ['stands behind the prompt, parted by an empty line', 'Write.', 'Be brief.', 'Write.\n\nBe brief.'],
  ['leaves what the prompt ends with as it is', 'Write.\n', ' Be brief.\n', 'Write.\n\n\nBe brief.'],
  ['is the prompt where there was none', '', 'Be brief.', 'Be brief.'],
  ['is the prompt where that was blank', ' \n', 'Be brief.', 'Be brief.'],
  ['of white space changes nothing', 'Write.', ' \n\t', nothing],
  ['of nothing to nothing changes nothing', '', '', nothing],
  ['of half a character is none', 'Write.', 'a\ud83d', malformed],
])('an addition %s', (_, prompt, text, expected) => {
  expect(made(prompt, { append: text })).toBe(expected);
});

it.each([
  ['puts one passage in the place of another', 'Write much.', 'much', 'little', 'Write little.'],
  ['of the whole prompt leaves nothing of it', 'Write.', 'Write.', 'Read.', 'Read.'],
  ['by nothing takes the passage out', 'Write much.', ' much', '', 'Write.'],
  ['is put in as it is', 'Write.', 'Write', '$& $1 $$ $`', '$& $1 $$ $`.'],
  ['looks for the passage as it is', 'a.c abc', 'a.c', 'x', 'x abc'],
  ['of what is there in another case is none', 'Write.', 'write', 'x', notOnce],
  ['of what is there twice is none', 'Write, write.', 'rite', 'x', notOnce],
  ['of what is there twice, one over the other, is none', 'Draw ---- here.', '---', 'x', notOnce],
  ['of nothing is none', 'Write.', '', 'x', notOnce],
  ['by the same changes nothing', 'Write.', 'Write', 'Write', nothing],
  ['by half a character is none', 'Write.', 'Write', '\udc00', malformed],
  ['of half a character is none', 'Smile 😀.', '\ud83d', 'x', malformed],
  ['of a passage that ends within a character is none', 'Smile 😀.', 'Smile \ud83d', 'x', malformed],
])('a replacement %s', (_, prompt, replace, by, expected) => {
  expect(made(prompt, { replace, with: by })).toBe(expected);
});

it('an edit has at most 1,000 characters of any width, and replaces a passage of any length', () => {
  const passage = 'x'.repeat(2_000);
  const [longest, longer] = ['😀'.repeat(1_000), '😀'.repeat(1_001)];
  expect(made('', { append: longest })).toBe(longest);
  expect(made(passage, { replace: passage, with: longest })).toBe(longest);
  for (const edit of [{ append: longer }, { replace: passage, with: longer }])
    expect(made(passage, edit)).toBe('its edit has more than 1000 characters');
});

it('a prompt has at most 50,000 characters of any width after an edit', () => {
  const prompt = `${'😀'.repeat(49_996)}.`;
  expect(made(prompt, { append: 'x' })).toBe(`${prompt}\n\nx`);
  expect(made(prompt, { replace: '.', with: 'four' })).toMatch(/four$/);
  for (const edit of [{ append: 'xy' }, { replace: '.', with: 'five.' }])
    expect(made(prompt, edit)).toBe('the prompt would have more than 50000 characters');
});
