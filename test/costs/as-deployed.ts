import { environment } from '../../lib/deployment/environment.ts';

/**
 * Has the functions of this process write logs and metrics as in AWS, and encrypt secrets by a key of KMS, which
 * `meter.ts` mocks. Call it before the first function.
 */
export function asDeployed(): void {
  Object.assign(process.env, {
    POWERTOOLS_LOG_LEVEL: 'INFO',
    [environment.serviceName]: 'Crewboard',
    [environment.secretsKeyId]: 'arn:aws:kms:us-east-1:111122223333:key/played',
    AWS_REGION: 'us-east-1',
  });
}
