import { RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Settings } from '../settings.ts';

/** A log of the stack, kept for as long as the settings say; an ephemeral stack deletes it. */
export class ServiceLog extends LogGroup {
  /** @param logGroupName set only where the name matters */
  constructor(scope: Construct, id: string, { logRetentionDays, ephemeral }: Settings, logGroupName?: string) {
    super(scope, id, {
      ...(logGroupName && { logGroupName }),
      retention: logRetentionDays,
      removalPolicy: ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    });
  }
}
