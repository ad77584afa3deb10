import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench } from './bench.ts';

/** A folder that goes with the end of the benchmark. */
export function temporaryFolder({ atEnd }: Bench): string {
  const folder = mkdtempSync(join(tmpdir(), 'crewboard-bench-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
