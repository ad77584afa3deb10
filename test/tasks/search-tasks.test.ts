import { expect, it } from 'vitest';
import { taskPriorities, taskStatuses } from '../../lib/contract/tasks/tasks.ts';
import { searchTasks } from '../../lib/tasks/search-tasks.ts';
import { fc } from '../seeded.ts';
import { agents, createTestTable } from '../table/tasks/test-table.ts';

/**
 * A word as titles spell it, and in upper case the texts that a search word can begin: the word itself, and in scripts without
 * spaces also what follows after each of its characters.
 */
type Word = { forms: [string, ...string[]]; starts: [string, ...string[]] };

const spaced = (start: string, ...forms: string[]): Word => ({ forms: [start, ...forms], starts: [start] });
const unspaced = (start: string, ...later: string[]): Word => ({ forms: [start], starts: [start, ...later] });

const words: Word[] = [
  spaced('LANDING', 'landing', 'Landing', 'ｌａｎｄｉｎｇ'),
  spaced('LANDUNG', 'Landung'),
  spaced('V2', 'v2'),
  spaced('ÉLODIE', 'Élodie', 'E\u0301lodie', 'élodie'),
  spaced('ELODIA', 'Elodia'),
  spaced('STRASSE', 'Straße', 'straße', 'Strasse'),
  spaced('ΟΔΟΣ', 'οδος', 'οδοσ', 'Οδος'),
  spaced('ΣΙΣΥΦΟΣ', 'σισυφος', 'Σίσυφος'.normalize('NFD').replaceAll('\u0301', '')),
  spaced('ПЛАТЁЖ', 'платёж', 'Плате\u0308ж'),
  spaced('ЩЁТКА', 'щётка'),
  spaced('مهمة', 'مهمة'),
  spaced('משימה', 'משימה'),
  spaced('데이터', '데이터', '데이터'.normalize('NFD')),
  spaced('\u{10400}X', '\u{10428}x'),
  unspaced('数据分析', '据分析', '分析', '析'),
  unspaced('𠮷野家', '野家', '家'),
  unspaced('データ分析', 'ータ分析', 'タ分析', '分析', '析'),
  // A mark belongs to the character in front of it, so no search word begins before it.
  unspaced('ผู้ใช้', 'ใช้', 'ช้'),
  unspaced('วิเคราะห์', 'เคราะห์', 'คราะห์', 'ราะห์', 'าะห์', 'ะห์', 'ห์'),
  unspaced('我的API助手', '的API助手', 'API助手', '助手', '手'),
];

const word = fc.constantFrom(...words);
const separator = fc.constantFrom(' ', '  ', '-', ', ', ' 🚀 ', '😀', '_', ' (', '\n');

/** A title with its words. */
const title = fc.array(fc.tuple(word, fc.nat(), separator), { minLength: 1, maxLength: 4 }).map((parts) => ({
  words: parts.map(([one]) => one),
  text: parts.map(([{ forms }, nth, after]) => `${forms[nth % forms.length]}${after}`).join(''),
}));

const facets = {
  status: fc.option(fc.constantFrom(...taskStatuses), { nil: undefined }),
  priority: fc.option(fc.constantFrom(...taskPriorities), { nil: undefined }),
  agent: fc.option(fc.constantFrom(...agents), { nil: undefined }),
  project: fc.option(fc.constantFrom('proj_apollo', 'proj_gemini'), { nil: undefined }),
};

/** The beginning of a word of some title, in upper case, or of none. */
const prefix = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(word, fc.nat(), fc.nat()).map(([{ starts }, nth, length]) => {
      const letters = [...(starts[nth % starts.length] as string)];
      return letters.slice(0, 1 + (length % letters.length)).join('');
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('ANDING', 'TRASSE', 'ANALYSIS', '分据', 'PI助手', '이터', 'ΙΣ', '\u0e39\u0e49ใ'),
  },
);

/** A search: its text and, in upper case, its words. */
const search = fc
  .array(fc.tuple(prefix, fc.constantFrom('same', 'lower', 'NFD'), fc.constantFrom(' ', '-', ' 🚀')), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => ({
    prefixes: parts.map(([letters]) => letters),
    text: parts
      .map(([letters, form, after]) => {
        const spelled = form === 'lower' ? letters.toLowerCase() : letters.normalize(form === 'NFD' ? 'NFD' : 'NFC');
        return `${spelled}${after}`;
      })
      .join(''),
  }));

it('a search finds exactly the tasks of a model, newest first, on pages of any size', async () => {
  const board = await createTestTable();
  const made = fc.record({ title, ...facets, isRenamed: fc.boolean(), isDeleted: fc.boolean() });
  const [drawn = []] = fc.sample(fc.array(made, { minLength: 150, maxLength: 150, size: 'max' }), 1);
  const tasks: ((typeof drawn)[number] & { id: string })[] = [];
  for (const one of drawn) {
    const { agent: assignedAgent, project: projectId, status = 'backlog', priority = 'medium' } = one;
    const { id } = await board.put({
      ...{ title: one.title.text, status, priority },
      ...(assignedAgent && { assignedAgent }),
      ...(projectId && { projectId }),
    });
    tasks.push({ ...one, id, status, priority });
  }
  await board.followTasks();
  // The stream has not followed these changes yet: such tasks are not found by their former titles.
  for (const task of tasks) {
    if (task.isDeleted) await board.remove(task.id);
    else if (task.isRenamed) await board.patch(task.id, { title: 'Zzz' });
  }
  const current = tasks.filter(({ isDeleted, isRenamed }) => !isDeleted && !isRenamed);
  expect(current.length).toBeGreaterThan(0);

  const isFound = ({ title: { words: own } }: (typeof tasks)[number], prefixes: string[]) =>
    prefixes.every((letters) => own.some(({ starts }) => starts.some((start) => start.startsWith(letters))));
  let matched = 0;
  await fc.assert(
    fc.asyncProperty(
      search,
      fc.record(facets),
      fc.constantFrom(true, true, false),
      fc.integer({ min: 1, max: 60 }),
      async ({ prefixes, text }, filter, isBare, limit) => {
        const wanted = isBare ? {} : filter;
        const expected = current
          .filter((task) => isFound(task, prefixes))
          .filter((task) =>
            Object.entries(wanted).every(([name, value]) => value === undefined || task[name as 'status'] === value),
          )
          .map(({ id }) => id);
        const seen: string[] = [];
        for (let before: string | undefined; ; ) {
          const page = await searchTasks(board, board.organization, text, { ...wanted, before, limit });
          seen.push(...page.items.map(({ id }) => id));
          expect(page.items.length).toBeLessThanOrEqual(limit);
          if (page.next === null) break;
          before = page.next;
        }
        matched += expected.length > 0 ? 1 : 0;
        expect(seen).toEqual(expected.sort().reverse());
      },
    ),
    { numRuns: 300 },
  );
  expect(matched).toBeGreaterThan(50);
});
