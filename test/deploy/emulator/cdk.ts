import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd } from '../../processes/python.ts';

/** Returns the folder of this run, which the start of the emulator sets. */
export function folderOfRun(): string {
  const { DEPLOY_FOLDER } = process.env;
  if (!DEPLOY_FOLDER) throw new Error('These tests need an emulator of AWS; run them by npm run test:deploy.');
  return DEPLOY_FOLDER;
}

/**
 * Runs the CDK's own command line, as a team does.
 *
 * @param settings the content of `settings/default.json`; without it the files of the repository are read
 * @param checkout the folder of the sources
 * @returns all that it printed
 * @throws Error with its whole output if it fails
 */
export async function cdk(args: string[], settings?: object, checkout = '.'): Promise<string> {
  const folder = folderOfRun();
  const options = ['--no-notices', '--output', join(folder, 'cdk.out'), ...(settings ? appWith(settings) : [])];
  const program = join('node_modules', 'aws-cdk', 'bin', 'cdk');
  const environment = { ...process.env, PATH: `${join(process.execPath, '..')}:${process.env.PATH}`, CI: 'true' };
  const { code, output } = await runToEnd(process.execPath, [program, ...args, ...options], environment, checkout);
  appendFileSync(join(folder, 'cdk.log'), output);
  if (code !== 0) throw new Error(`cdk ${args.join(' ')} ended with ${code}:\n${output}`);
  return output;
}

/** Writes a settings file, and returns the options of the CDK that have the app read it. */
function appWith(settings: object): string[] {
  const folder = join(folderOfRun(), 'settings');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'default.json'), JSON.stringify(settings));
  return ['--app', `node infra/aws/app.ts ${folder}`];
}
