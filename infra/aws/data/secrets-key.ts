import { RemovalPolicy } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { SecretsUse } from '../../../lib/contract/endpoint.ts';
import type { DeploySettings } from '../settings.ts';

const actions = { encrypts: 'kms:Encrypt', decrypts: 'kms:Decrypt' } as const satisfies Record<SecretsUse, string>;

/**
 * The key that encrypts the secrets of webhooks: an existing one, or one that the stack creates. The stack's own key is a
 * multi-Region key, which can be set only at its creation, and KMS rotates it every year.
 */
export class SecretsKey extends Construct {
  readonly arn: string;
  readonly #key: IKey;

  /**
   * @param ephemeral whether the stack's own key is deleted with the stack; all secrets are then unreadable
   * @param secretsKey the ARN of an existing key
   */
  constructor(
    scope: Construct,
    id: string,
    { ephemeral, secretsKey }: Pick<DeploySettings, 'ephemeral' | 'secretsKey'>,
  ) {
    super(scope, id);
    this.#key = secretsKey
      ? Key.fromKeyArn(this, 'Existing', secretsKey)
      : // The id `Default` is not part of the logical id. With another logical id CloudFormation would create another key.
        new Key(this, 'Default', {
          description: 'Encrypts the secrets of webhooks',
          multiRegion: true,
          enableKeyRotation: true,
          removalPolicy: ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        });
    this.arn = this.#key.keyArn;
  }

  /** Grants a function, or several that share a role, the right to encrypt or to decrypt secrets. */
  allow(grantee: IGrantable, use: SecretsUse): void {
    this.#key.grant(grantee, actions[use]);
  }
}
