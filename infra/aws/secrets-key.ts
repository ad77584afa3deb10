import { RemovalPolicy } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { environment } from '../../lib/contract/deployment.ts';
import type { SecretsUse } from '../../lib/contract/endpoint.ts';
import type { ServiceFunction } from './service-function.ts';

const actions = { seals: 'kms:Encrypt', opens: 'kms:Decrypt' } as const satisfies Record<SecretsUse, string>;

/** The key that the secrets of webhooks are sealed with. It never leaves KMS, and is renewed every year. */
export class SecretsKey extends Key {
  /** @param ephemeral the key, and with it every sealed secret, goes with the stack; otherwise it outlives it */
  constructor(scope: Construct, id: string, { ephemeral }: { ephemeral: boolean }) {
    super(scope, id, {
      description: 'Seals the secrets of webhooks',
      enableKeyRotation: true,
      removalPolicy: ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    });
  }

  /** Lets a function, or several that share a role, do one thing with secrets. */
  allow(grantee: IGrantable, use: SecretsUse): void {
    this.grant(grantee, actions[use]);
  }

  /** Sets the variable of a function that holds the key's ARN. */
  identifyTo(handler: ServiceFunction): void {
    handler.addEnvironment(environment.secretsKeyId, this.keyArn);
  }
}
