import { describe, expect, it } from 'vitest';
import { assignSkill, createAgent, listAgents, updateAgent, updateSoul } from '../../lib/contract/agents.ts';
import { validate } from '../../lib/http/validate.ts';

const required = { name: 'writer', displayName: 'Writer', category: 'business' };

/** Returns the errors of a field of a create, as `<path> <code>`; an empty list if it is valid and unchanged. */
function errorsOf(field: string, value: unknown): string[] {
  const body = { ...required, [field]: value };
  const { output, errors } = validate(createAgent.body, body);
  if (errors.length === 0) expect(output).toMatchObject(body);
  return errors.map(({ path, code }) => `${path} ${code}`);
}

/** Returns characters of four bytes, two UTF-16 code units and one code point each. */
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
  it('with only the required fields gets the defaults, but no model', () => {
    const { output } = validate(createAgent.body, required);
    expect(output).toEqual({ ...required, systemPrompt: '', soul: '', capabilities: [], status: 'active' });
  });

  it.each(['a', '0', '007', 'a-b', 'a-b-c-1', 'x'.repeat(64), `${'a-'.repeat(31)}bc`, 'constructor'])(
    'accepts the name %s',
    (name) => expect(errorsOf('name', name)).toEqual([]),
  );

  it.each([
    '',
    'Writer',
    '-writer',
    'writer-',
    'code--writer',
    'code_writer',
    'code writer',
    'a/b',
    'writer\n',
    'größe',
    '１',
    '__proto__',
    'x'.repeat(65),
  ])('rejects the name %j', (name) => expect(errorsOf('name', name)).toEqual(['name invalid_value']));

  it.each([
    ['displayName', 200, false],
    ['description', 10_000, true],
    ['systemPrompt', 50_000, true],
    ['soul', 50_000, true],
    ['model', 256, false],
  ] as const)('accepts a %s of at most %i code points without lone surrogates; blank: %s', (field, most, blank) => {
    for (const text of [wide(most), 'x'.repeat(most), '\u0000', 'e\u0301', '\ufeffx', '\u200b'])
      expect(errorsOf(field, text)).toEqual([]);
    for (const text of [wide(most + 1), 'x'.repeat(most + 1), `${wide(most)}x`, 'a\udc00', '\udc00\ud800'])
      expect(errorsOf(field, text)).toEqual([`${field} invalid_value`]);
    for (const text of ['', ' \t\n\u00a0\u3000\ufeff'])
      expect(errorsOf(field, text)).toEqual(blank ? [] : [`${field} invalid_value`]);
    for (const value of [null, 7, {}]) expect(errorsOf(field, value)).toEqual([`${field} invalid_type`]);
  });

  it('accepts at most 50 capabilities of 1 to 64 code points', () => {
    for (const list of [[], capabilities(50), ['x', wide(64)], ['a', 'A', ' a'], ['__proto__', 'constructor']])
      expect(errorsOf('capabilities', list)).toEqual([]);
    expect(errorsOf('capabilities', capabilities(51))).toEqual(['capabilities invalid_value']);
    expect(errorsOf('capabilities', ['a', 'b', 'a'])).toEqual(['capabilities invalid_value']);
    for (const capability of ['', ' ', wide(65), '\ud800'])
      expect(errorsOf('capabilities', ['a', capability])).toEqual(['capabilities.1 invalid_value']);
    for (const capability of [null, 7, {}, []])
      expect(errorsOf('capabilities', [capability])).toEqual(['capabilities.0 invalid_type']);
    expect(errorsOf('capabilities', 'a')).toEqual(['capabilities invalid_type']);
    expect(errorsOf('capabilities', { 0: 'a' })).toEqual(['capabilities invalid_type']);
  });

  it.each([
    ['category', ['business', 'development', 'qa', 'research', 'operations', 'specialized']],
    ['status', ['active', 'inactive', 'draft']],
  ])('accepts as %s one of %j', (field, words) => {
    for (const word of words) expect(errorsOf(field, word)).toEqual([]);
    for (const word of ['', words[0]?.toUpperCase(), `${words[0]} `, 'other', 'constructor', '__proto__'])
      expect(errorsOf(field, word)).toEqual([`${field} invalid_value`]);
  });

  it.each(requiredFields)('requires a %s', (field) => {
    expect(errorsOf(field, undefined)).toEqual([`${field} required`]);
  });
});

describe('an update', () => {
  const errors = (body: unknown) => validate(updateAgent.body, body).errors.map(({ path }) => path);
  const cleared = ['description', 'model', 'systemPrompt', 'soul'];

  it('has all fields of a create except the name, and requires none', () => {
    expect(Object.keys(updateAgent.body.entries)).toEqual(every.slice(1));
    expect(validate(updateAgent.body, {})).toMatchObject({ output: {}, errors: [] });
  });

  it.each(cleared)('accepts null for %s', (field) => {
    expect(validate(updateAgent.body, { [field]: null })).toMatchObject({ output: { [field]: null }, errors: [] });
  });

  it.each(every.slice(1).filter((field) => !cleared.includes(field)))('rejects null for %s', (field) => {
    expect(errors({ [field]: null })).toEqual([field]);
  });

  it('has the limits of a create', () => {
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
    expect(errors(tooMuch)).toEqual(every.slice(1));
  });
});

describe('an update of the soul', () => {
  const errors = (body: unknown) => validate(updateSoul.body, body).errors.map(({ path, code }) => `${path} ${code}`);

  it('accepts any text of at most 50,000 code points', () => {
    for (const soul of ['', ' ', '\u0000', wide(50_000)]) expect(errors({ soul })).toEqual([]);
  });

  it('requires the text, with the limits of a create', () => {
    expect(errors({})).toEqual(['soul required']);
    for (const soul of [null, 1]) expect(errors({ soul })).toEqual(['soul invalid_type']);
    for (const soul of [wide(50_001), '\ud800']) expect(errors({ soul })).toEqual(['soul invalid_value']);
  });
});

describe('the query of a list of agents', () => {
  const errors = (query: unknown) =>
    validate(listAgents.query, query).errors.map(({ path, code }) => `${path} ${code}`);

  it('accepts a search of 1 to 200 code points that are not only white space', () => {
    for (const search of ['x', ' x ', '!!!', '\u0000', wide(200)]) expect(errors({ search })).toEqual([]);
    for (const search of [' \t', wide(201), '\ud800']) expect(errors({ search })).toEqual(['search invalid_value']);
  });

  it.each([{}, { category: 'qa' }, { category: 'qa', status: 'draft', search: 'x' }, { limit: '1', offset: '0' }])(
    'accepts %j',
    (query) => expect(errors(query)).toEqual([]),
  );

  it.each([
    [{ category: 'Qa' }, 'category invalid_value'],
    [{ status: 'deleted' }, 'status invalid_value'],
  ])('rejects %j', (query, error) => expect(errors(query)).toEqual([error]));
});

describe('the id of a skill to be assigned', () => {
  const errors = (body: unknown) => validate(assignSkill.body, body).errors.map(({ path, code }) => `${path} ${code}`);

  it.each(['sk_a', 'sk_code-review', 'sk_0', `sk_${'a'.repeat(64)}`])('can be %s', (skillId) => {
    expect(errors({ skillId })).toEqual([]);
  });

  it.each([
    'code-review',
    'sk_',
    'sk_Code',
    'sk_-a',
    'sk_a-',
    'sk_a--b',
    'sk_a\n',
    'sk_../a',
    '',
    // The format of skills allows no longer folder name, and DynamoDB allows no sort key above 1,024 bytes.
    `sk_${'a'.repeat(65)}`,
  ])('cannot be %j', (skillId) => {
    expect(errors({ skillId })).toEqual(['skillId invalid_value']);
  });

  it('is required', () => {
    expect(errors({})).toEqual(['skillId required']);
    expect(errors({ skillId: null })).toEqual(['skillId invalid_type']);
  });
});
