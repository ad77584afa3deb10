import { CfnOutput, Stack } from 'aws-cdk-lib';
import { ApiMapping, DomainName, type HttpApi, type HttpStage, SecurityPolicy } from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Construct } from 'constructs';
import type { DeploySettings } from '../settings.ts';

/** The setting of a domain name that the team owns. */
type CustomDomainSettings = NonNullable<DeploySettings['customDomain']>;

/**
 * A custom domain name for the API. The stack creates no DNS record; its outputs name the target for the owner's record.
 */
export class CustomDomain extends Construct {
  /** The URL of the API under the domain name, without a slash at the end. */
  readonly url: string;

  constructor(scope: Construct, id: string, api: HttpApi, stage: HttpStage, settings: CustomDomainSettings) {
    super(scope, id);
    const domainName = new DomainName(this, 'Name', {
      domainName: settings.name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', settings.certificateArn),
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    // It waits for the routes, which the stage waits for, so that it is not changed together with them.
    domainName.node.addDependency(stage);
    new ApiMapping(this, 'Mapping', { api, domainName, stage });
    this.url = `https://${settings.name}`;
    const { regionalDomainName, regionalHostedZoneId } = domainName;
    output(this, 'DomainTarget', regionalDomainName, 'The target of the DNS record of the custom domain');
    output(
      this,
      'DomainTargetZone',
      regionalHostedZoneId,
      'The hosted zone of the target, for an alias record in Route 53',
    );
  }
}

/** Adds an output with exactly this name to the stack. */
function output(scope: Construct, name: string, value: string, description: string): void {
  new CfnOutput(Stack.of(scope), name, { value, description });
}
