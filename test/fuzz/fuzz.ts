import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killAllOn } from '../processes/processes.ts';
import { findingsAfter } from './aftermath.ts';
import { startReceiver } from './receiver.ts';
import { type Manner, runSchemathesis } from './schemathesis.ts';
import { createSetup, type Setup } from './setup.ts';

/** The least time for requests, however long the setup has taken, in seconds. */
const leastSeconds = 30;

/**
 * Starts a service, and fuzzes it as one organization beside another.
 *
 * @param manner its time includes the setup
 * @returns the findings, beside the findings that schemathesis prints
 */
export async function fuzz({ programs, seconds, seed }: Manner): Promise<string[]> {
  const startedAt = performance.now();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'crewboard-fuzz-')));
  const receiver = await startReceiver();
  let setup: Setup | undefined;
  let keep = true;
  try {
    setup = await createSetup(folder, receiver);
    const left = Math.max(leastSeconds, seconds - Math.round((performance.now() - startedAt) / 1000));
    const code = await runSchemathesis(folder, setup, { programs, seconds: left, seed });
    const findings: string[] = [];
    if (code !== 0) findings.push(`schemathesis ended with ${code}; its findings are above.`);
    findings.push(...(await findingsAfter(setup)));
    keep = findings.length > 0;
    return findings;
  } finally {
    await setup?.kill();
    await killAllOn(folder);
    await receiver.close();
    if (keep) console.log(`The data and the log of the service are in ${folder}.`);
    else rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
