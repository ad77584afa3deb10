import { describe, expect, it } from 'vitest';
import { assignSkill, createAgent, listAgents, updateAgent, updateSoul } from '../../lib/contract/agents.ts';
import { check } from '../../lib/http/faults.ts';

const required = { name: 'writer', displayName: 'Writer', category: 'business' };

/** What is wrong with a field of a create, as `<path> <code>`; nothing where it is taken as it is. */
function faultsOf(field: string, value: unknown): string[] {
  const body = { ...required, [field]: value };
  const { output, faults } = check(createAgent.body, body);
  if (faults.length === 0) expect(output).toMatchObject(body);
  return faults.map(({ path, code }) => `${path} ${code}`);
}

/** Takes four bytes, two UTF-16 code units and one code point. */
const wide = (count: number) => '😀'.repeat(count);
const capabilities = (count: number) => Array.from({ length: count }, (_, at) => `capability ${at}`);
const every = [
  'name',
  'displayName',
  'description',
  'category',
  'model',
  'systemPrompt',
  'soul',
  'capabilities',
  'status',
];
const requiredFields = Object.keys(required);

describe('a create', () => {
  it('of what is required alone is filled up with the defaults, but for the model', () => {
    const { output } = check(createAgent.body, required);
    expect(output).toEqual({ ...required, systemPrompt: '', soul: '', capabilities: [], status: 'active' });
  });

  it.each(['a', '0', '007', 'a-b', 'a-b-c-1', 'x'.repeat(64), `${'a-'.repeat(31)}bc`, 'constructor'])(
    'takes the name %s',
    (name) => expect(faultsOf('name', name)).toEqual([]),
  );

  it.each([
    '',
    'A',
    'Writer',
    '-writer',
    'writer-',
    'code--writer',
    '-',
    'code_writer',
    'code writer',
    'code.writer',
    'a#b',
    'a/b',
    '%61',
    'writer\n',
    '\nwriter',
    'größe',
    'ｗriter',
    '１',
    '__proto__',
    'x'.repeat(65),
    'X'.repeat(65),
  ])('refuses the name %j', (name) => expect(faultsOf('name', name)).toEqual(['name invalid_value']));

  it.each([
    ['displayName', 200],
    ['description', 10_000],
    ['systemPrompt', 50_000],
    ['soul', 50_000],
    ['model', 256],
  ])('takes a %s of at most %i code points', (field, most) => {
    expect(faultsOf(field, wide(most))).toEqual([]);
    expect(faultsOf(field, 'x'.repeat(most))).toEqual([]);
    for (const tooLong of [wide(most + 1), 'x'.repeat(most + 1), `${wide(most)}x`])
      expect(faultsOf(field, tooLong)).toEqual([`${field} invalid_value`]);
  });

  it.each(['displayName', 'description', 'systemPrompt', 'soul', 'model'])('takes a %s of any characters', (field) => {
    for (const text of ['!', '\u0000', ' \u0000 ', '👩‍🚀', 'e\u0301', '\ufeffx', '\u200b'])
      expect(faultsOf(field, text)).toEqual([]);
  });

  it.each(['displayName', 'description', 'systemPrompt', 'soul', 'model'])(
    'refuses a lone surrogate in %s',
    (field) => {
      for (const text of ['\ud800', 'a\udc00', '\udc00\ud800', `${wide(3)}\ud83d`])
        expect(faultsOf(field, text)).toEqual([`${field} invalid_value`]);
    },
  );

  it.each(['description', 'systemPrompt', 'soul'])('takes a %s that is empty or white space', (field) => {
    for (const text of ['', ' ', '\n\t']) expect(faultsOf(field, text)).toEqual([]);
  });

  it.each(['displayName', 'model'])('refuses a %s that is empty or white space', (field) => {
    for (const text of ['', ' ', ' \t\n\u00a0\u3000\ufeff'])
      expect(faultsOf(field, text)).toEqual([`${field} invalid_value`]);
  });

  it('takes at most 50 capabilities of 1 to 64 code points', () => {
    for (const list of [[], capabilities(50), ['x', wide(64)], ['a', 'A', ' a'], ['__proto__', 'constructor']])
      expect(faultsOf('capabilities', list)).toEqual([]);
    expect(faultsOf('capabilities', capabilities(51))).toEqual(['capabilities invalid_value']);
    expect(faultsOf('capabilities', ['a', 'b', 'a'])).toEqual(['capabilities invalid_value']);
    for (const capability of ['', ' ', wide(65), '\ud800'])
      expect(faultsOf('capabilities', ['a', capability])).toEqual(['capabilities.1 invalid_value']);
    for (const capability of [null, 7, {}, []])
      expect(faultsOf('capabilities', [capability])).toEqual(['capabilities.0 invalid_type']);
    expect(faultsOf('capabilities', 'a')).toEqual(['capabilities invalid_type']);
    expect(faultsOf('capabilities', { 0: 'a' })).toEqual(['capabilities invalid_type']);
  });

  it.each([
    ['category', ['business', 'development', 'qa', 'research', 'operations', 'specialized']],
    ['status', ['active', 'inactive', 'draft']],
  ])('takes as %s one of %j', (field, words) => {
    for (const word of words) expect(faultsOf(field, word)).toEqual([]);
    for (const word of ['', words[0]?.toUpperCase(), `${words[0]} `, 'other', 'constructor', '__proto__'])
      expect(faultsOf(field, word)).toEqual([`${field} invalid_value`]);
  });

  it.each(requiredFields)('needs a %s', (field) => {
    expect(faultsOf(field, undefined)).toEqual([`${field} required`]);
  });

  it.each(every)('refuses null, a number and an object as %s', (field) => {
    for (const value of [null, 7, true, {}])
      expect(faultsOf(field, value)).toEqual([expect.stringMatching(new RegExp(`^${field} invalid_(type|value)$`))]);
  });
});

describe('a change', () => {
  const faults = (body: unknown) => check(updateAgent.body, body).faults.map(({ path }) => path);
  const cleared = ['description', 'model', 'systemPrompt', 'soul'];

  it('names any of the fields of a create but the name, and needs none', () => {
    expect(Object.keys(updateAgent.body.entries)).toEqual(every.slice(1));
    expect(check(updateAgent.body, {})).toMatchObject({ output: {}, faults: [] });
  });

  it.each(cleared)('may have null for %s', (field) => {
    expect(check(updateAgent.body, { [field]: null })).toMatchObject({ output: { [field]: null }, faults: [] });
  });

  it.each(every.slice(1).filter((field) => !cleared.includes(field)))('may not have null for %s', (field) => {
    expect(faults({ [field]: null })).toEqual([field]);
  });

  it('is held to the limits of a create', () => {
    const tooMuch = {
      displayName: wide(201),
      description: wide(10_001),
      category: 'x',
      model: ' ',
      systemPrompt: wide(50_001),
      soul: '\ud800',
      capabilities: capabilities(51),
      status: 'x',
    };
    expect(faults(tooMuch)).toEqual(every.slice(1));
  });
});

describe('another soul', () => {
  const faults = (body: unknown) => check(updateSoul.body, body).faults.map(({ path, code }) => `${path} ${code}`);

  it('may be any text of at most 50,000 code points', () => {
    for (const soul of ['', ' ', '\u0000', wide(50_000)]) expect(faults({ soul })).toEqual([]);
  });

  it.each([
    ['nothing', {}, 'soul required'],
    ['null', { soul: null }, 'soul invalid_type'],
    ['a number', { soul: 1 }, 'soul invalid_type'],
    ['longer', { soul: wide(50_001) }, 'soul invalid_value'],
    ['a lone surrogate', { soul: '\ud800' }, 'soul invalid_value'],
  ])('may not be %s', (_, body, fault) => expect(faults(body)).toEqual([fault]));
});

describe('a list of agents', () => {
  const faults = (query: unknown) => check(listAgents.query, query).faults.map(({ path, code }) => `${path} ${code}`);

  it('may be searched by 1 to 200 code points that are not white space only', () => {
    for (const search of ['x', ' x ', '!!!', '\u0000', wide(200)]) expect(faults({ search })).toEqual([]);
    for (const search of [' \t', wide(201), '\ud800']) expect(faults({ search })).toEqual(['search invalid_value']);
  });

  it.each([{}, { category: 'qa' }, { category: 'qa', status: 'draft', search: 'x' }, { limit: '1', offset: '0' }])(
    'may be asked for by %j',
    (query) => expect(faults(query)).toEqual([]),
  );

  it.each([
    [{ category: 'Qa' }, 'category invalid_value'],
    [{ category: 'constructor' }, 'category invalid_value'],
    [{ status: 'deleted' }, 'status invalid_value'],
    [{ limit: '0' }, 'limit invalid_value'],
    [{ limit: '1e2' }, 'limit invalid_value'],
    [{ offset: '-1' }, 'offset invalid_value'],
  ])('may not be asked for by %j', (query, fault) => expect(faults(query)).toEqual([fault]));
});

describe('the id of a skill to be assigned', () => {
  const faults = (body: unknown) => check(assignSkill.body, body).faults.map(({ path, code }) => `${path} ${code}`);

  it.each(['sk_a', 'sk_code-review', 'sk_0', `sk_${'a'.repeat(64)}`])('may be %s', (skillId) => {
    expect(faults({ skillId })).toEqual([]);
  });

  it.each([
    'code-review',
    'sk_',
    'sk_Code',
    'sk_-a',
    'sk_a-',
    'sk_a--b',
    'sk_a_b',
    'sk_a\n',
    'sk_../a',
    'SK_a',
    '',
    // No folder of the format has a longer name, and the table takes no key of more than 1,024 bytes.
    `sk_${'a'.repeat(65)}`,
  ])('may not be %j', (skillId) => {
    expect(faults({ skillId })).toEqual(['skillId invalid_value']);
  });

  it('must be there', () => {
    expect(faults({})).toEqual(['skillId required']);
    expect(faults({ skillId: null })).toEqual(['skillId invalid_type']);
  });
});
