import {
  HttpIntegrationType,
  HttpRouteIntegration,
  type HttpRouteIntegrationConfig,
  IntegrationCredentials,
  PayloadFormatVersion,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { ServiceRole } from '../functions/service-role.ts';

/**
 * The role that API Gateway assumes to invoke functions. The CDK's own integration would add a permission, and so a
 * resource, for each endpoint.
 */
export class InvokerRole extends ServiceRole {
  constructor(scope: Construct, id: string) {
    super(scope, id, 'apigateway.amazonaws.com');
  }

  /**
   * Returns the integration that invokes this function or alias, and gives the role the right to do so.
   *
   * @param id the id of the construct of the integration
   */
  integrationFor(id: string, { functionArn }: IFunction): HttpRouteIntegration {
    this.addToPrincipalPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [functionArn] }));
    return new InvokedFunction(id, {
      type: HttpIntegrationType.AWS_PROXY,
      uri: functionArn,
      payloadFormatVersion: PayloadFormatVersion.VERSION_2_0,
      credentials: IntegrationCredentials.fromRole(this),
    });
  }
}

class InvokedFunction extends HttpRouteIntegration {
  readonly #config: HttpRouteIntegrationConfig;

  constructor(id: string, config: HttpRouteIntegrationConfig) {
    super(id);
    this.#config = config;
  }

  override bind(): HttpRouteIntegrationConfig {
    return this.#config;
  }
}
