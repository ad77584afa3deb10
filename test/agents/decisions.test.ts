import { describe, expect, it } from 'vitest';
import { losesRights, matching, patchedAgent } from '../../lib/agents/decisions.ts';
import { toolCapabilities } from '../../lib/contract/agents/agents.ts';
import type { StoredAgent } from '../../lib/table/agents/agent-items.ts';
import { storedAgent } from '../table/agents/agent-seed.ts';

type Patch = Parameters<typeof patchedAgent>[1];

const now = '2026-03-02T12:00:00.000Z';
const id = 'ag_01K00000000000000000000000';

const texts = { description: 'Writes', systemPrompt: 'Write.', soul: 'Kind.' };
const agentOf = (more: Partial<StoredAgent> = {}): StoredAgent =>
  storedAgent({ id, ...texts, capabilities: ['text', 'tables'], version: 3, ...more });
const patchedBy = (agent: StoredAgent, patch: Patch) => patchedAgent(agent, patch, now);

it.each<[boolean, string, Patch]>([
  [true, 'is deactivated', { status: 'inactive' }],
  [true, 'becomes a draft', { status: 'draft' }],
  ...toolCapabilities.map((lost): [boolean, string, Patch] => [
    true,
    `loses ${lost}`,
    { capabilities: ['text', ...toolCapabilities].filter((one) => one !== lost) },
  ]),
  [false, 'loses a label', { capabilities: [...toolCapabilities] }],
  [false, 'gets another prompt and model', { systemPrompt: 'Other.', model: 'other.model' }],
  [false, 'stays as it is', {}],
])('it is %s that an agent loses rights if it %s', (expected, _, patch) => {
  const agent = agentOf({ capabilities: ['text', ...toolCapabilities] });
  expect(losesRights(agent, patchedBy(agent, patch))).toBe(expected);
  expect(losesRights(patchedBy(agent, patch), agent)).toBe(false);
});

describe('a patched agent', () => {
  it.each<[string, Patch]>([
    ['nothing', {}],
    ['its own values', { displayName: 'Writer', category: 'business', status: 'active', model: 'some.model' }],
    ['its own texts', texts],
    ['its own capabilities', { capabilities: ['text', 'tables'] }],
    ['undefined', { displayName: undefined, description: undefined, model: undefined, soul: undefined }],
  ])('is the same object for %s', (_, patch) => {
    const agent = agentOf();
    expect(patchedBy(agent, patch)).toBe(agent);
  });

  it('is the same object if null clears fields that are cleared', () => {
    const { description, ...bare } = agentOf({ systemPrompt: '', soul: '' });
    expect(patchedBy(bare, { description: null, systemPrompt: null, soul: null })).toBe(bare);
  });

  it.each<Patch>([
    ...[
      { displayName: 'Other' },
      { category: 'qa' as const },
      { status: 'inactive' as const },
      { model: 'other.model' },
    ],
    ...[{ description: '' }, { systemPrompt: '' }, { systemPrompt: 'Kind.' }, { soul: 'Other.' }],
    ...[{ capabilities: [] }, { capabilities: ['tables', 'text'] }],
  ])('has %j, the next version, the time of the change and the other fields as before', (patch) => {
    const agent = agentOf();
    expect(patchedBy(agent, patch)).toEqual({ ...agentOf(), ...patch, version: 4, updatedAt: now });
    expect(agent).toEqual(agentOf());
  });

  it('has no description, no own limits, an empty prompt and an empty soul after null', () => {
    const limited = patchedBy(agentOf(), { maxSteps: 5, maxTokens: 1_000 });
    expect(limited).toMatchObject({ maxSteps: 5, maxTokens: 1_000 });
    const cleared = { description: null, systemPrompt: null, soul: null, maxSteps: null, maxTokens: null };
    const changed = patchedBy({ ...limited, version: 3 }, cleared);
    for (const field of ['description', 'maxSteps', 'maxTokens']) expect(changed).not.toHaveProperty(field);
    expect(changed).toMatchObject({ systemPrompt: '', soul: '', version: 4 });
  });
});

describe('an agent matches', () => {
  const isMatch = (filter: Parameters<typeof matching>[0], more: Partial<StoredAgent> = {}) =>
    matching(filter)(agentOf(more));

  it.each([
    [{}, true],
    [{ category: 'business', status: 'active', search: 'writer' }, true],
    [{ category: 'qa', status: 'active', search: 'writer' }, false],
    [{ category: 'business', status: 'draft', search: 'writer' }, false],
    [{ category: 'business', status: 'active', search: 'reader' }, false],
  ] as const)('the filter %j: %s', (filter, expected) => {
    expect(isMatch(filter)).toBe(expected);
  });

  const searched = {
    ...{ name: 'code-reviewer', displayName: 'Élodie Straße ΟΔΟΣΗΜΑ İzmir 東京都' },
    description: 'Reads diffs, and judges them; snake_case (C++) \u{10400}x ﬁne',
    ...{ systemPrompt: 'hidden', soul: 'hidden', model: 'hidden', capabilities: ['hidden'] },
  };

  it.each([
    ...['code-reviewer', 'reviewer code', 'code', 'rev', 'CODE', 'ｃｏｄｅ', 'élodie', 'ÉLO', 'E\u0301lodie', 'straße'],
    ...['diffs élodie code', 'judges, them!', 'them ; them', 'case', 'c++', 'C', 'İzmir', '東京', '\u{10428}', 'FI'],
    ...['fine', '  code  '],
    // In upper case ß is SS, and the two forms of sigma are one letter.
    ...['STRASSE', 'strasse', 'ΟΔΟΣ', 'οδος', 'οδοσ'],
    '京',
  ])('the search %j', (search) => {
    expect(isMatch({ search }, searched)).toBe(true);
  });

  it.each([
    ...['viewer', 'code poet', 'codereviewer', 'elodie', 'hidden', 'business', 'active', 'constructor'],
    ...['.*', '[a-z]', '!!!', '-', '😀', '\u0000', '+'],
  ])('not the search %j', (search) => {
    expect(isMatch({ search }, searched)).toBe(false);
  });

  it.each([
    ...[
      ['数据分析助手', '分析'],
      ['数据分析助手', '助手 数据'],
      ['データ分析エージェント', 'エージ'],
      ['ﾃﾞｰﾀ分析', 'データ分析'],
    ],
    ...[
      ['サーバーAPI担当', 'api'],
      ['我的AI助手2', 'ai助手'],
      ['𠮷野家の𠮷田', '𠮷田'],
      ['ผู้ช่วยวิเคราะห์ข้อมูล', 'วิเคราะห์'],
    ],
    ...[
      ['ຜູ້ຊ່ວຍວິເຄາະ', 'ວິເຄາະ'],
      ['ជំនួយការវិភាគ', 'វិភាគ'],
      ['ဒေတာလေ့လာသူ', 'လေ့လာ'],
    ],
  ])('an agent named %s by the word %s inside it', (displayName, search) => {
    expect(isMatch({ search }, { ...searched, displayName })).toBe(true);
  });

  it.each([
    ...[
      ['Release Helper', 'elper'],
      ['我的Helper', 'elper'],
      ['数据分析助手', '分助'],
      ['데이터분석가', '분석'],
    ],
    ...[
      ['ผู้ช่วย', '\u0e49ช่วย'],
      ['𠮷野家', '\u{29fb7}'],
    ],
  ])('an agent named %s not by %j', (displayName, search) => {
    expect(isMatch({ search }, { ...searched, displayName })).toBe(false);
  });

  it('by its names if it has no description', () => {
    const { description, ...bare } = agentOf();
    expect(matching({ search: 'writer' })(bare)).toBe(true);
    expect(matching({ search: 'undefined' })(bare)).toBe(false);
  });
});
