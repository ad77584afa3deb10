import { environment } from '../../lib/deployment/environment.ts';

/**
 * Has the functions of this process write their log and their metrics as they do in AWS, and keep secrets by a key of
 * KMS, which `meter.ts` plays. To be called before the first of them is.
 */
export function asDeployed(): void {
  Object.assign(process.env, {
    POWERTOOLS_LOG_LEVEL: 'INFO',
    [environment.serviceName]: 'Crewboard',
    [environment.secretsKeyId]: 'arn:aws:kms:us-east-1:111122223333:key/played',
    AWS_REGION: 'us-east-1',
  });
}
