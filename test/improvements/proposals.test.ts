import { describe, expect, it } from 'vitest';
import { type Edit, edited, proposalOf } from '../../lib/improvements/proposals.ts';

const json = (fields: object) => JSON.stringify({ summary: 'Why.', ...fields });
const append = { summary: 'Why.', edit: { append: 'Be brief.' } };

describe('a proposal is read', () => {
  const answer = json({ append: 'Be brief.' });

  it.each([
    ['alone', answer],
    ['on several lines', JSON.stringify(JSON.parse(answer), null, 2)],
    ['in prose', `Here is what I propose:\n${answer}\nI hope that it helps.`],
    ['in a code fence', `\`\`\`json\n${answer}\n\`\`\``],
    ['in a code fence in prose', `Look:\n\n\`\`\`\n${answer}\n\`\`\`\n\nThat is all.`],
    ['behind a byte order mark', `\ufeff${answer}`],
    ['with unknown fields', json({ append: 'Be brief.', confidence: 0.9, notes: { a: [{}] } })],
    ['with what a replacement would have put in', json({ append: 'Be brief.', with: 'x' })],
  ])('%s', (_, said) => {
    expect(proposalOf(said)).toEqual(append);
  });

  it('that replaces a passage', () => {
    expect(proposalOf(json({ replace: 'Write.', with: '' }))?.edit).toEqual({ replace: 'Write.', with: '' });
  });

  it('with braces, quotes and line ends in its text', () => {
    const text = 'Answer {"a": {"b": "}"}}\n```json\n{}\n```';
    expect(proposalOf(`So: ${json({ append: text })}`)?.edit).toEqual({ append: text });
  });

  it('that proposes nothing, and says why', () => {
    expect(proposalOf(json({}))).toEqual({ summary: 'Why.', edit: undefined });
  });

  it('with a summary of at most 500 characters, of which none is cut in two, and no white space around it', () => {
    expect(proposalOf(json({ summary: ` ${'😀'.repeat(501)} ` }))?.summary).toBe('😀'.repeat(500));
  });

  it('with a summary that can be stored, whatever is in it', () => {
    expect(proposalOf('{"summary":"Half \\ud83d."}')?.summary).toBe('Half \ufffd.');
  });

  it('however long it is', () => {
    const text = 'x'.repeat(1_000_000);
    expect(proposalOf(json({ append: text }))?.edit).toEqual({ append: text });
    expect(proposalOf('{'.repeat(1_000_000))).toBeUndefined();
  });
});

describe('no proposal is read', () => {
  it.each([
    ['nothing', ''],
    ['prose', 'The prompt is fine.'],
    ['half an object', '{"summary":"Why.","append":"Be'],
    ['no JSON', "{summary: 'Why.'}"],
    ['two objects', `${json({})}\n${json({})}`],
    ['braces in the prose around it', `Fill {name} in: ${json({})}`],
    ['braces the wrong way round', '} and {'],
    ['a text', '"Why."'],
    ['a number', '7'],
    ['null', 'null'],
    ['an object without a summary', '{"append":"Be brief."}'],
    ['a blank summary', json({ summary: ' \n' })],
    ['a summary that is no text', json({ summary: ['Why.'] })],
    ['a text to add that is none', json({ append: 7 })],
    ['a text to add that is null', json({ append: null })],
    ['a list of texts to add', json({ append: ['Be brief.'] })],
    ['a passage that is no text', json({ replace: { a: 1 }, with: 'x' })],
    ['a replacement that is no text', json({ replace: 'Write.', with: false })],
    ['a passage and nothing in its place', json({ replace: 'Write.' })],
    ['both kinds of edit', json({ append: 'x', replace: 'Write.', with: 'y' })],
    ['both kinds of edit by half', json({ append: 'x', replace: 'Write.' })],
  ])('in %s', (_, said) => {
    expect(proposalOf(said)).toBeUndefined();
  });
});

const made = (prompt: string, edit: Edit) => {
  const result = edited(prompt, edit);
  return 'prompt' in result ? result.prompt : result.fault;
};
const notOnce = 'the passage that it would replace is not in the prompt, or more than once';
const nothing = 'its edit changes nothing';
const malformed = 'its edit is not well-formed text';

describe('an addition', () => {
  it.each([
    ['stands behind the prompt, parted by an empty line', 'Write.', 'Be brief.', 'Write.\n\nBe brief.'],
    ['leaves what the prompt ends with as it is', 'Write.\n', ' Be brief.\n', 'Write.\n\n\nBe brief.'],
    ['is the prompt where there was none', '', 'Be brief.', 'Be brief.'],
    ['is the prompt where that was blank', ' \n', 'Be brief.', 'Be brief.'],
    ['of white space changes nothing', 'Write.', ' \n\t', nothing],
    ['of nothing to nothing changes nothing', '', '', nothing],
    ['of half a character is none', 'Write.', 'a\ud83d', malformed],
  ])('%s', (_, prompt, text, expected) => {
    expect(made(prompt, { append: text })).toBe(expected);
  });
});

describe('a replacement', () => {
  it.each([
    ['puts one passage in the place of another', 'Write much.', 'much', 'little', 'Write little.'],
    ['of the whole prompt leaves nothing of it', 'Write.', 'Write.', 'Read.', 'Read.'],
    ['by nothing takes the passage out', 'Write much.', ' much', '', 'Write.'],
    ['is put in as it is', 'Write.', 'Write', '$& $1 $$ $`', '$& $1 $$ $`.'],
    ['looks for the passage as it is', 'a.c abc', 'a.c', 'x', 'x abc'],
    ['of what is not there is none', 'Write.', 'Read', 'x', notOnce],
    ['of what is there in another case is none', 'Write.', 'write', 'x', notOnce],
    ['of what is there twice is none', 'Write, write.', 'rite', 'x', notOnce],
    ['of what is there twice, one over the other, is none', 'Draw ---- here.', '---', 'x', notOnce],
    ['of nothing is none', 'Write.', '', 'x', notOnce],
    ['of nothing in nothing is none', '', '', 'x', notOnce],
    ['by the same changes nothing', 'Write.', 'Write', 'Write', nothing],
    ['by half a character is none', 'Write.', 'Write', '\udc00', malformed],
    ['of half a character is none', 'Smile 😀.', '\ud83d', 'x', malformed],
    ['of a passage that ends within a character is none', 'Smile 😀.', 'Smile \ud83d', 'x', malformed],
  ])('%s', (_, prompt, replace, by, expected) => {
    expect(made(prompt, { replace, with: by })).toBe(expected);
  });
});

describe('an edit has at most 1,000 characters, however many code units they take,', () => {
  const [longest, longer] = ['😀'.repeat(1_000), '😀'.repeat(1_001)];
  const fault = 'its edit has more than 1000 characters';

  it('where it adds', () => {
    expect(made('', { append: longest })).toBe(longest);
    expect(made('', { append: longer })).toBe(fault);
  });

  it('where it replaces, whatever the length of the passage', () => {
    const passage = 'x'.repeat(2_000);
    expect(made(passage, { replace: passage, with: longest })).toBe(longest);
    expect(made(passage, { replace: passage, with: longer })).toBe(fault);
  });
});

describe('a prompt has at most 50,000 characters, however many code units they take,', () => {
  const fault = 'the prompt would have more than 50000 characters';
  const prompt = `${'😀'.repeat(49_996)}.`;

  it('with what is added', () => {
    expect(made(prompt, { append: 'x' })).toBe(`${prompt}\n\nx`);
    expect(made(prompt, { append: 'xy' })).toBe(fault);
  });

  it('with what is replaced', () => {
    expect(made(prompt, { replace: '.', with: 'four' })).toMatch(/four$/);
    expect(made(prompt, { replace: '.', with: 'five.' })).toBe(fault);
  });
});
