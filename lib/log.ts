import { Logger } from '@aws-lambda-powertools/logger';

let logger: Logger | undefined;

/** Returns the log of this process, and creates it at the first call. It does not need the context of the process. */
export function log(): Logger {
  logger ??= new Logger({ serviceName: 'crewboard' });
  return logger;
}
