import { type App, openApp } from '../../lib/app.ts';
import { findRunning, type Running } from '../local/running.ts';
import { readSettings } from '../local/settings.ts';
import { openStack } from './stack.ts';

/**
 * The app over the table of a deployment: of a stack in AWS, or of the service that runs on this machine where none is
 * named.
 *
 * @throws `Problem` where there is none
 */
export async function openDeployment(stack: string | undefined): Promise<App> {
  if (stack !== undefined) return openStack(stack);
  return openApp({ environment: (await findLocal()).environment, clock: Date.now });
}

/**
 * The service that runs on this machine, on the data folder that the environment names.
 *
 * @throws `Problem` where there is none
 */
export function findLocal(): Promise<Running> {
  return findRunning(readSettings(process.env).dataFolder);
}
