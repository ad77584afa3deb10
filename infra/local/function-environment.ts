import { environment } from '../../lib/names/environment.ts';
import { type DataFolder, dataFiles, dataPath } from './data-folder.ts';
import { tableName } from './running.ts';
import type { LocalSettings } from './settings.ts';

/**
 * The maximum number of concurrent attempts of one webhook that is not slow. In AWS each container makes five; locally
 * one process replaces all containers. A receiver that takes 300 ms can still get hundreds of events a second.
 */
const normalAttempts = 100;

/** Returns the environment variables of functions in a local deployment. */
export function functionEnvironment(settings: LocalSettings, data: DataFolder): Record<string, string> {
  return {
    [environment.tableName]: tableName,
    [environment.dynamodbEndpoint]: settings.dynamodbEndpoint ?? '',
    // Empty means Bedrock's own endpoint. This overrides a value from the shell.
    [environment.modelEndpoint]: '',
    [environment.defaultModel]: settings.model.defaultModel,
    ...(settings.retryLadder !== undefined && { [environment.retryLadder]: settings.retryLadder }),
    ...(settings.responseDays !== undefined && { [environment.responseDays]: settings.responseDays }),
    ...(settings.failingDays !== undefined && { [environment.failingDays]: settings.failingDays }),
    ...(settings.runningCap !== undefined && { [environment.runningCap]: settings.runningCap }),
    ...(settings.waitingLimit !== undefined && { [environment.waitingLimit]: settings.waitingLimit }),
    ...(settings.executionSteps !== undefined && { [environment.executionSteps]: settings.executionSteps }),
    ...(settings.executionTokens !== undefined && { [environment.executionTokens]: settings.executionTokens }),
    ...(settings.executionMinutes !== undefined && { [environment.executionMinutes]: settings.executionMinutes }),
    [environment.requestsPerMinute]: String(settings.limits.requestsPerMinute),
    [environment.executionsPerMinute]: String(settings.limits.executionsPerMinute),
    [environment.callsOutPerMinute]: String(settings.limits.callsOutPerMinute),
    ...(settings.limits.dailyTokens !== undefined && {
      [environment.dailyTokens]: String(settings.limits.dailyTokens),
    }),
    [environment.normalAttempts]: String(normalAttempts),
    [environment.secretsKeyFile]: dataPath(data, dataFiles.secretsKey),
    [environment.allowedReceivers]: settings.allowedReceivers,
    [environment.corsOrigins]: settings.corsOrigins,
  };
}
