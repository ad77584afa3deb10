import { describe, expect, it } from 'vitest';
import { assignSkill, createAgent, listAgents, updateAgent, updateSoul } from '../../../lib/contract/agents/agents.ts';
import { standardConduct } from '../../../lib/contract/agents/standard-conduct.ts';
import { validate } from '../../../lib/contract/requests/validate.ts';
import { agentNames, errorsOf, testFields, testPage, texts, wide, words } from '../fields.ts';

const required = { name: 'writer', displayName: 'Writer', category: 'business' };
const capabilities = (count: number) => Array.from({ length: count }, (_, at) => `capability ${at}`);

const flags = { valid: [true, false], invalid: [], ofOtherType: ['true', 1] };
const fields = {
  displayName: texts(200, { label: true }),
  description: texts(10_000, { blank: true }),
  category: words('business', 'development', 'qa', 'research', 'operations', 'specialized'),
  model: texts(256, { label: true }),
  systemPrompt: texts(50_000, { blank: true }),
  soul: texts(50_000, { blank: true }),
  capabilities: {
    valid: [[], capabilities(50), ['x', wide(64)], ['a', 'A', ' a'], ['__proto__', 'constructor']],
    invalid: [capabilities(51), ['a', 'b', 'a']],
    ofOtherType: ['a', { 0: 'a' }],
  },
  status: words('active', 'inactive', 'draft'),
  maxSteps: { valid: [1, 200], invalid: [0, 201, 1.5], ofOtherType: ['20', true] },
  maxTokens: { valid: [1, 10_000_000], invalid: [0, 10_000_001, 1.5], ofOtherType: ['200000', true] },
  autoRun: flags,
  maxRunning: { valid: [1, 50], invalid: [0, 51, 1.5], ofOtherType: ['1', true] },
  autoRetry: { valid: [0, 3], invalid: [-1, 4, 0.5], ofOtherType: ['0', false] },
  autoAccept: flags,
  dependencyResults: flags,
};

describe('a create', () => {
  it('with only the required fields gets the defaults, but no model', () => {
    const { output } = validate(createAgent.body, required);
    expect(output).toEqual({
      ...{ ...required, systemPrompt: '', soul: '', capabilities: [], status: 'active' },
      ...standardConduct,
    });
    expect(errorsOf(createAgent.body, {})).toEqual(Object.keys(required).map((field) => `${field} required`));
  });

  testFields(createAgent.body, required, { name: agentNames, ...fields });

  it('accepts null for no field', () => {
    for (const field of Object.keys(createAgent.body.entries))
      expect(errorsOf(createAgent.body, { ...required, [field]: null })).toHaveLength(1);
  });
});

describe('an update', () => {
  it('has all fields of a create except the name, and requires none', () => {
    expect(Object.keys(updateAgent.body.entries)).toEqual(Object.keys(fields));
    expect(validate(updateAgent.body, {})).toMatchObject({ output: {}, errors: [] });
  });

  testFields(updateAgent.body, {}, fields);

  it('accepts null for the fields that it can clear', () => {
    const accepted = Object.keys(fields).filter((field) => errorsOf(updateAgent.body, { [field]: null }).length === 0);
    expect(accepted).toEqual(['description', 'model', 'systemPrompt', 'soul', 'maxSteps', 'maxTokens']);
  });
});

describe.each([
  ['create', createAgent.body, required],
  ['update', updateAgent.body, {}],
])('the capabilities of a %s', (_, schema, others) => {
  it.each([
    ['Tasks.Read', 'tasks.read'],
    ['tasks_write', 'tasks.write'],
    ['TASKS READ', 'tasks.read'],
    ['tasks:read', 'tasks.read'],
    ['tasksRead', 'tasks.read'],
    ['tasks-read', 'tasks.read'],
    [' delegate', 'delegate'],
    ['Skills', 'skills'],
  ])('cannot have %j, a spelling of %s', (sent, meant) => {
    const { errors } = validate(schema, { ...others, capabilities: ['css', sent] });
    const message = `capabilities.1 must be spelled ${meant}`;
    expect(errors).toEqual([{ path: 'capabilities.1', code: 'invalid_value', message }]);
  });

  it('can have labels that are similar to those with tools', () => {
    for (const label of ['tasks', 'skill', 'delegates', 'tasks.reader'])
      expect(errorsOf(schema, { ...others, capabilities: [label] })).toEqual([]);
  });

  it('have 1 to 64 code points each', () => {
    const errors = (capability: unknown) => errorsOf(schema, { ...others, capabilities: ['a', capability] });
    for (const capability of ['', ' ', wide(65), '\ud800'])
      expect(errors(capability)).toEqual(['capabilities.1 invalid_value']);
    for (const capability of [null, 7, {}, []]) expect(errors(capability)).toEqual(['capabilities.1 invalid_type']);
  });
});

describe('an update of the soul', () => {
  testFields(updateSoul.body, {}, { soul: texts(50_000, { blank: true }) });

  it('requires the text', () => {
    expect(errorsOf(updateSoul.body, {})).toEqual(['soul required']);
    expect(errorsOf(updateSoul.body, { soul: null })).toEqual(['soul invalid_type']);
  });
});

describe('the query of a list of agents', () => {
  const { category, status } = fields;
  const { valid, invalid } = texts(200);
  testFields(listAgents.query, {}, { category, status, search: { valid: [...valid, ' x ', '!!!'], invalid } });
  testPage(listAgents.query);
});

describe('the id of a skill to be assigned', () => {
  testFields(
    assignSkill.body,
    {},
    {
      skillId: {
        valid: ['sk_a', 'sk_code-review', 'sk_0', `sk_${'a'.repeat(64)}`],
        // The format of skills allows no longer folder name, and DynamoDB allows no sort key above 1,024 bytes.
        invalid: [
          ...['', 'code-review', 'sk_', 'sk_Code', 'sk_-a', 'sk_a-', 'sk_a--b', 'sk_a\n', 'sk_../a'],
          `sk_${'a'.repeat(65)}`,
        ],
        ofOtherType: [null],
      },
    },
  );

  it('is required', () => expect(errorsOf(assignSkill.body, {})).toEqual(['skillId required']));
});
