import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The usual names of the Chromium program. The headless shell is first: it has no windows, of which the others open one for
 * each context, so a test takes half of the CPU time.
 */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
];

/**
 * Returns the path of a Chromium program: the value of `CHROMIUM`, else the first of the usual names on the `PATH`.
 *
 * @throws Error if `CHROMIUM` is not an executable program
 */
export function findChromium({ CHROMIUM, PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  if (CHROMIUM) {
    if (!isProgram(CHROMIUM))
      throw new Error(`CHROMIUM is ${CHROMIUM}, which is not an executable program; set it to the path of Chromium.`);
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
