import { createHash } from 'node:crypto';

/** A change of one place of the code, as StrykerJS describes it. */
export type Mutant = {
  fileName: string;
  location: { start: { line: number; column: number }; end: { line: number; column: number } };
  mutatorName: string;
  replacement: string;
};

/** A mutant with the result of its tests. Lines and columns count from 1 here; StrykerJS counts from 0 before. */
export type MutantResult = Mutant & { status: string };

/** How often each mutant was executed, by its id. */
export type Hits = Record<string, number>;

type Score = { killed: number; timedOut: number; survived: number; notCovered: number };

/** The folders that the score counts. A folder that a commit does not have counts nothing. */
export const FOLDERS = ['agents', 'executions', 'http', 'improvements', 'table', 'tasks', 'webhooks'];

/** Returns whether a mutant is in the sample of `percent` per cent that belongs to a seed. */
export function inSample({ fileName, location, mutatorName, replacement }: Mutant, seed: number, percent: number) {
  const { start, end } = location;
  const place = [start.line, start.column, end.line, end.column];
  const identity = JSON.stringify([seed, pathInTree(fileName), place, mutatorName, replacement]);
  return createHash('sha256').update(identity).digest().readUInt32BE() / 2 ** 32 < percent / 100;
}

/** Returns the path of a file of `lib` from the root of the tree that it is in. */
function pathInTree(fileName: string): string {
  return fileName.slice(fileName.lastIndexOf('/lib/') + 1);
}

/** Returns a mutant in one line: file, line, kind and the code that replaces the original. */
export function describeMutant({ fileName, location, mutatorName, replacement }: MutantResult): string {
  const code = replacement.replaceAll(/\s+/g, ' ');
  return `${pathInTree(fileName)}:${location.start.line}:${location.start.column} ${mutatorName}: ${code}`;
}

/** Returns the lines of a table with the score of each folder, and of all folders in the last line. */
export function scoreTable(results: MutantResult[]): string[] {
  const rows = FOLDERS.map((folder) => {
    const inFolder = results.filter(({ fileName }) => pathInTree(fileName).startsWith(`lib/${folder}/`));
    return scoreRow(`lib/${folder}`, inFolder);
  });
  const heading = [
    '| Folder | Mutants | Killed | Timed out | Survived | Not covered | Score |',
    '|---|--:|--:|--:|--:|--:|--:|',
  ];
  return [...heading, ...rows, scoreRow('All', results)];
}

function scoreRow(name: string, results: MutantResult[]): string {
  const { killed, timedOut, survived, notCovered } = countResults(results);
  const mutants = killed + timedOut + survived + notCovered;
  const score = mutants === 0 ? '–' : `${(((killed + timedOut) / mutants) * 100).toFixed(1)} %`;
  return `| ${[name, mutants, killed, timedOut, survived, notCovered, score].join(' | ')} |`;
}

function countResults(results: MutantResult[]): Score {
  const count = (...statuses: string[]) => results.filter(({ status }) => statuses.includes(status)).length;
  return {
    // A mutant that ends a test file with an error outside of a test is found too.
    killed: count('Killed', 'RuntimeError'),
    timedOut: count('Timeout'),
    survived: count('Survived'),
    notCovered: count('NoCoverage'),
  };
}

/** Returns the sum of several counts of executions. */
export function sumHits(parts: Hits[]): Hits {
  const sum: Hits = {};
  for (const [id, count] of parts.flatMap(Object.entries<number>)) sum[id] = (sum[id] ?? 0) + count;
  return sum;
}

/**
 * Keeps, for each mutant, the counts of the `limit` test files that execute it most often. Code that runs on import counts
 * the same in every file that imports it: of those, the files that execute the fewest mutants are kept, its unit tests.
 */
export function keepMostHits(byFile: Record<string, Hits>, limit: number): Record<string, Hits> {
  const sizes = new Map(Object.entries(byFile).map(([file, hits]) => [file, Object.keys(hits).length]));
  const sizeOf = (file: string) => sizes.get(file) ?? 0;
  const all = Object.entries(byFile).flatMap(([file, hits]) =>
    Object.entries(hits).map(([id, count]) => ({ file, id, count })),
  );
  const kept: Record<string, Hits> = {};
  for (const files of Map.groupBy(all, ({ id }) => id).values()) {
    const most = files.toSorted((a, b) => b.count - a.count || sizeOf(a.file) - sizeOf(b.file)).slice(0, limit);
    for (const { file, id, count } of most) {
      const hits = kept[file] ?? {};
      kept[file] = hits;
      hits[id] = count;
    }
  }
  return kept;
}

/** Compares two test files: the one whose path is more like that of the mutated file comes first. */
export function nearestFirst(mutated: string, one: string, other: string): number {
  return sharedLength(mutated, other) - sharedLength(mutated, one);
}

/** Returns how many characters of two paths are equal, from below `lib` and `test` on. */
function sharedLength(mutated: string, test: string): number {
  const code = mutated.slice('lib/'.length);
  const name = test.slice(test.lastIndexOf('/test/') + '/test/'.length);
  const different = [...code].findIndex((character, index) => character !== name[index]);
  return different < 0 ? code.length : different;
}
