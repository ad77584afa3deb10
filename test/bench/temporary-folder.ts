import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench } from './bench.ts';

/** A folder that goes with the end of the benchmark. */
export function temporaryFolder({ atEnd }: Pick<Bench, 'atEnd'>, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'crewboard-bench-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
