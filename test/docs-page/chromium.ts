import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** By which names a Chromium goes. */
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/**
 * The browser of this machine: the program that `CHROMIUM` names, else the first of the usual names on the `PATH`.
 *
 * @throws Error where `CHROMIUM` names what cannot be run
 */
export function findChromium({ CHROMIUM, PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  if (CHROMIUM) {
    if (!isProgram(CHROMIUM)) throw new Error(`CHROMIUM is ${CHROMIUM}, which is no program.`);
    return CHROMIUM;
  }
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
