import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { changesBetween, readContents } from './contents.ts';
import { runCommand, untilAtRest } from './organization.ts';
import { heardOf, type Stage } from './stage.ts';

/**
 * What no single answer can show: that the other organization has and has heard what it had, that every total is what
 * can be walked, that lists and counts are what their items imply, and that nothing left the loopback.
 *
 * @returns the findings, in words
 */
export async function findingsAfter(stage: Stage): Promise<string[]> {
  const { own, other, before, words, receiver, heardBefore, dataFolder, fence } = stage;
  const after = await readContents(other.api);
  const findings = changesBetween(before, after).map((path) => `GET ${path} of the other organization has changed.`);
  if (heardOf(receiver, words) !== heardBefore)
    findings.push('The other organization was told of what is not its own.');
  await untilAtRest(own.api);
  findings.push(...after.wrongTotals, ...(await readContents(own.api)).wrongTotals);
  for (const { name } of [own, other]) findings.push(...(await differencesOf(dataFolder, name)));
  return [...findings, ...escapesIn(fence)];
}

/** Returns the differences that `reconcile` finds; a change while it reads may look like one, once. */
async function differencesOf(dataFolder: string, org: string, again = true): Promise<string[]> {
  try {
    await runCommand(dataFolder, 'reconcile', ['--org', org]);
    return [];
  } catch (error) {
    if (!again) return [`npm run reconcile -- --org ${org}:\n${Object(error).stdout || error}`];
    await pause(2000);
    return differencesOf(dataFolder, org, false);
  }
}

/** What the service tried to reach outside the loopback, but for the name that nobody has. */
function escapesIn(fence: string): string[] {
  const tried = existsSync(fence) ? readFileSync(fence, 'utf8').trim().split('\n') : [];
  const escapes = new Set(tried.filter((host) => !host.endsWith('.invalid')));
  return [...escapes].map((host) => `The service tried to reach ${host}: hooks.py let a URL through.`);
}
