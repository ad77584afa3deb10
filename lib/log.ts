import { Logger } from '@aws-lambda-powertools/logger';

let opened: Logger | undefined;

/**
 * The log of this process, opened when it is first asked for. It is no part of opening the app, so that whoever needs
 * no table can write to it too.
 */
export function log(): Logger {
  opened ??= new Logger({ serviceName: 'crewboard' });
  return opened;
}
