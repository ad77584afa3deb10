import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { changesBetween, readContents } from './contents.ts';
import { runCommand, untilAtRest } from './organization.ts';
import { deliveriesTo, type Setup } from './setup.ts';

/**
 * Checks after the requests that the other organization has the same data and deliveries as before, that every total is
 * the number of items in its list, that lists and counts are correct, and that nothing left the loopback.
 *
 * @returns the findings
 */
export async function findingsAfter(setup: Setup): Promise<string[]> {
  const { own, other, before, words, receiver, deliveriesBefore, dataFolder, fence } = setup;
  const after = await readContents(other.api);
  const findings = changesBetween(before, after).map((request) => `${request} of the other organization has changed.`);
  if (deliveriesTo(receiver, words) !== deliveriesBefore) findings.push('The other organization got events of others.');
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
    if (!again) return [`npm run crewboard -- reconcile --org ${org}:\n${Object(error).stdout || error}`];
    await pause(2000);
    return differencesOf(dataFolder, org, false);
  }
}

/** Returns the hosts outside the loopback that the service tried to reach, except hosts of the reserved domain. */
function escapesIn(fence: string): string[] {
  const tried = existsSync(fence) ? readFileSync(fence, 'utf8').trim().split('\n') : [];
  const escapes = new Set(tried.filter((host) => !host.endsWith('.invalid')));
  return [...escapes].map((host) => `The service tried to reach ${host}: hooks.py let a URL through.`);
}
