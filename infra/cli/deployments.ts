import { type Context, createContext } from '../../lib/context.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { openTable, type Table } from '../../lib/table/client.ts';
import { findRunning, type Running } from '../local/running.ts';
import { readSettings } from '../local/settings.ts';
import { createStackContext, tableNameOf } from './stack/stack.ts';

/**
 * Creates the context of a deployment: of a stack in AWS, or of the service on this machine if no stack is named.
 *
 * @throws `Problem` if there is no such deployment
 */
export async function createDeploymentContext(stack: string | undefined): Promise<Context> {
  if (stack !== undefined) return createStackContext(stack);
  return createContext({ environment: (await findLocal()).environment, clock: Date.now });
}

/**
 * Opens a table: a named one in AWS, that of a stack, or that of the service on this machine if neither is named.
 *
 * @throws `Problem` if there is no such deployment
 */
export async function openDeploymentTable({
  stack,
  table,
}: {
  stack?: string | undefined;
  table?: string | undefined;
}): Promise<Table> {
  if (table !== undefined) return openTable(table);
  if (stack !== undefined) return openTable(await tableNameOf(stack));
  const { environment: variables } = await findLocal();
  return openTable(variables[environment.tableName] ?? '', variables[environment.dynamodbEndpoint]);
}

/**
 * Finds the service that runs on this machine, on the data folder that the environment names.
 *
 * @throws `Problem` if none is running
 */
export function findLocal(): Promise<Running> {
  return findRunning(readSettings(process.env).dataFolder);
}
