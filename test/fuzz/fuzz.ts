import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killAllOn } from '../soak/processes.ts';
import { findingsAfter } from './aftermath.ts';
import { startReceiver } from './receiver.ts';
import { type Manner, runSchemathesis } from './schemathesis.ts';
import { setStage } from './stage.ts';
import { summaryOf } from './summary.ts';

/** At least so long is fuzzed, however long the stage has taken. */
const leastSeconds = 30;

/**
 * Fuzzes a service of its own as one organization beside another.
 *
 * @param manner for how long in all: setting the stage counts
 * @returns what was found, in words, beside what schemathesis prints
 */
export async function fuzz({ programs, seconds, seed }: Manner): Promise<string[]> {
  const startedAt = performance.now();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'crewboard-fuzz-')));
  const receiver = await startReceiver();
  let keep = true;
  try {
    const stage = await setStage(folder, receiver);
    const left = Math.max(leastSeconds, seconds - Math.round((performance.now() - startedAt) / 1000));
    const { code, tally } = await runSchemathesis(folder, stage, { programs, seconds: left, seed });
    const findings: string[] = [];
    if (code !== 0) findings.push(`schemathesis ended with ${code}; what it found stands above.`);
    if (tally) console.log(`\n${summaryOf(tally)}\n`);
    else findings.push('schemathesis did not come to its end.');
    findings.push(...(await findingsAfter(stage)));
    keep = findings.length > 0;
    return findings;
  } finally {
    await killAllOn(folder);
    receiver.close();
    if (keep) console.log(`The data and the log of the service are in ${folder}.`);
    else rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
