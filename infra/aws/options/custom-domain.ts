import { CfnOutput, Stack } from 'aws-cdk-lib';
import { ApiMapping, DomainName, type HttpApi, type HttpStage, SecurityPolicy } from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Construct } from 'constructs';
import type { Settings } from '../settings.ts';

/** The setting of a domain name that the team owns. */
type CustomDomainSettings = NonNullable<Settings['customDomain']>;

/**
 * A domain name of the team for the API. The stack makes no DNS record: its outputs name the target that the team's record
 * has to lead to.
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
    new ApiMapping(this, 'Mapping', { api, domainName, stage });
    this.url = `https://${settings.name}`;
    const { regionalDomainName, regionalHostedZoneId } = domainName;
    output(this, 'DomainTarget', regionalDomainName, 'Where the DNS record of the custom domain has to lead');
    output(this, 'DomainTargetZone', regionalHostedZoneId, 'The hosted zone of that target, for an alias of Route 53');
  }
}

/** Adds an output of the stack under exactly this name. */
function output(scope: Construct, name: string, value: string, description: string): void {
  new CfnOutput(Stack.of(scope), name, { value, description });
}
