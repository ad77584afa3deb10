import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  describeMutant,
  type Hits,
  inSample,
  keepMostHits,
  type Mutant,
  type MutantResult,
  sumHits,
} from './mutants.ts';

// The parts of StrykerJS that this file uses. The types are here because the project does not install StrykerJS.
type TestResult = { id: string; name: string; status: number; timeSpentMs: number; failureMessage?: string };
type RunResult = { status: string; tests?: TestResult[] };
type Coverage = { perTest: Record<string, Hits>; static: Hits };
type MutantRun = { sandboxFileName: string; mutantActivation: string };
declare class VitestTestRunner {
  ctx: { state: { getFiles(): { filepath: string; meta: { mutantCoverage?: Coverage } }[] } };
  mutantRun(options: MutantRun): Promise<unknown>;
  run(options: { testIds?: string[]; testFiles?: string[] }): Promise<RunResult>;
  readMutantCoverage(): Coverage;
}
type Injector = { provideValue(name: string, value: unknown): Injector; injectClass(type: unknown): unknown };

const RUNNER = 'node_modules/@stryker-mutator/vitest-runner/dist/src/vitest-test-runner.js';

/** The name under which StrykerJS keeps the state of the mutants in the tests. */
const NAMESPACE = '__stryker__';

/** The status of a failed test. */
const FAILED = 1;

const runnerUrl = pathToFileURL(join(process.env.MUTATION_TOOL ?? '', RUNNER)).href;
const { VitestTestRunner: Runner }: { VitestTestRunner: typeof VitestTestRunner } = await import(runnerUrl);

/** Selects the mutants of the sample. StrykerJS does not count the others. */
class SampleChecker {
  async init(): Promise<void> {}

  async group(mutants: { id: string }[]): Promise<string[][]> {
    return [mutants.map(({ id }) => id)];
  }

  async check(mutants: (Mutant & { id: string })[]): Promise<Record<string, { status: string; reason?: string }>> {
    const seed = Number(process.env.MUTATION_SEED);
    const percent = Number(process.env.MUTATION_PERCENT);
    const skipped = { status: 'compileError', reason: 'It is not in the sample.' };
    return Object.fromEntries(
      mutants.map((mutant) => [mutant.id, inSample(mutant, seed, percent) ? { status: 'passed' } : skipped]),
    );
  }
}

/** Prints each result at once with the test file and the error that found it. An interrupted run leaves its results. */
class LineReporter {
  onMutantTested(result: MutantResult & { killedBy?: string[]; statusReason?: string }): void {
    if (result.status === 'CompileError') return;
    const error = result.statusReason?.split('\n', 1)[0] ?? '';
    console.log([result.status, describeMutant(result), ...(result.killedBy ?? []), error].join(' | '));
  }
}

/**
 * Creates a runner that handles each test file as one test. A test that reads what an earlier test of its file wrote
 * fails when it runs alone, which would count as killed. Code that runs on import or in a hook belongs to its file too;
 * StrykerJS would run all files for a mutant in it.
 */
function createFileRunner(injector: Injector): unknown {
  class FileRunner extends Runner {
    override mutantRun(options: MutantRun): Promise<unknown> {
      process.env.MUTATED_FILE = relative('.', options.sandboxFileName);
      return super.mutantRun({ ...options, mutantActivation: 'static' });
    }

    override async run({ testIds = [] }: { testIds?: string[] }): Promise<RunResult> {
      const result = await super.run(testIds.length > 0 ? { testFiles: testIds } : {});
      return result.tests ? { ...result, tests: joinByFile(result.tests) } : result;
    }

    override readMutantCoverage(): Coverage {
      const byFile = this.ctx.state.getFiles().map(({ filepath, meta }): [string, Hits] => {
        const coverage = meta.mutantCoverage;
        return [
          relative('.', filepath),
          sumHits(coverage ? [coverage.static, ...Object.values(coverage.perTest)] : []),
        ];
      });
      const perTest = keepMostHits(Object.fromEntries(byFile), Number(process.env.MUTATION_FILES));
      return { perTest, static: {} };
    }
  }
  return injector.provideValue('globalNamespace', NAMESPACE).injectClass(FileRunner);
}

function joinByFile(tests: TestResult[]): TestResult[] {
  const byFile = Map.groupBy(tests, ({ id }) => id.slice(0, id.indexOf('#')));
  return [...byFile].map(([file, results]) => {
    const timeSpentMs = results.reduce((sum, test) => sum + test.timeSpentMs, 0);
    const failed = results.find(({ status }) => status === FAILED);
    return { ...(failed ?? { status: 0 }), id: file, name: failed ? `${file} > ${failed.name}` : file, timeSpentMs };
  });
}

export const strykerPlugins = [
  { kind: 'Checker', name: 'sample', injectableClass: SampleChecker },
  { kind: 'Reporter', name: 'lines', injectableClass: LineReporter },
  { kind: 'TestRunner', name: 'vitest-files', factory: Object.assign(createFileRunner, { inject: ['$injector'] }) },
];
