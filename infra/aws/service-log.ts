import { RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Settings } from './settings.ts';

/** A log of the stack, kept for as long as the settings say; it goes with a throw-away stack. */
export class ServiceLog extends LogGroup {
  constructor(scope: Construct, id: string, { logRetentionDays, ephemeral }: Settings) {
    super(scope, id, {
      retention: logRetentionDays,
      removalPolicy: ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    });
  }
}
