import { type App, openApp } from '../../lib/app.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { openTable, type Table } from '../../lib/table/client.ts';
import { findRunning, type Running } from '../local/running.ts';
import { readSettings } from '../local/settings.ts';
import { openStack, tableOf } from './stack/stack.ts';

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
 * The table of a deployment: one in AWS that is named, that of a stack, or that of the service that runs on this machine.
 *
 * @throws `Problem` where there is no such deployment
 */
export async function openTableOf({
  stack,
  table,
}: {
  stack?: string | undefined;
  table?: string | undefined;
}): Promise<Table> {
  if (table !== undefined) return openTable(table);
  if (stack !== undefined) return openTable(await tableOf(stack));
  const { environment: variables } = await findLocal();
  return openTable(variables[environment.tableName] ?? '', variables[environment.dynamodbEndpoint]);
}

/**
 * The service that runs on this machine, on the data folder that the environment names.
 *
 * @throws `Problem` where there is none
 */
export function findLocal(): Promise<Running> {
  return findRunning(readSettings(process.env).dataFolder);
}
