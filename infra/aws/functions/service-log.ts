import { RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { DeploySettings } from '../settings.ts';

/** A log group with the retention of the settings. It remains when the stack is deleted, unless the stack is ephemeral. */
export class ServiceLog extends LogGroup {
  /** @param logGroupName the name of the log group; by default CloudFormation generates it */
  constructor(scope: Construct, id: string, { logRetentionDays, ephemeral }: DeploySettings, logGroupName?: string) {
    super(scope, id, {
      ...(logGroupName && { logGroupName }),
      retention: logRetentionDays,
      removalPolicy: ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    });
  }
}
