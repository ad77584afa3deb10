import { Aws, Stack } from 'aws-cdk-lib';
import {
  HttpIntegrationType,
  HttpRouteIntegration,
  type HttpRouteIntegrationConfig,
  IntegrationCredentials,
  PayloadFormatVersion,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IVersion } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { ServiceRole } from '../functions/service-role.ts';

/** How many characters of the stack's name are in every name that CloudFormation generates, and some more in most. */
const keptOfStackName = 20;

/**
 * Returns a pattern of the names of the API's functions. CloudFormation generates a name from the names of the stack and of
 * the resource, which begins with `Api`, and shortens both if it has more than 64 characters. The names of stages have no
 * capital letters, so the pattern of the stack `Crewboard` matches no function of `Crewboard-prod`.
 */
export function functionNamePattern(stackName: string): string {
  return stackName.length <= keptOfStackName ? `${stackName}-Api*` : `${stackName.slice(0, keptOfStackName)}*-Api*`;
}

/** Returns the resource of the right to invoke the API's functions, and their versions. */
export function invokedFunctions(stackName: string, partition: string, region: string, account: string): string {
  return `arn:${partition}:lambda:${region}:${account}:function:${functionNamePattern(stackName)}`;
}

/**
 * The role that API Gateway assumes to invoke functions. The CDK's own integration would add a permission, and so a
 * resource, for each endpoint. The role names the functions by a pattern: a list of their ARNs would be limited to about 80
 * by the length of a role's policies.
 */
export class InvokerRole extends ServiceRole {
  constructor(scope: Construct, id: string) {
    super(scope, id, 'apigateway.amazonaws.com');
    const functions = invokedFunctions(Stack.of(this).stackName, Aws.PARTITION, Aws.REGION, Aws.ACCOUNT_ID);
    this.addToPrincipalPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [functions] }));
  }

  /**
   * Returns the integration that invokes this version of a function.
   *
   * @param id the id of the construct of the integration
   */
  integrationFor(id: string, { functionArn }: IVersion): HttpRouteIntegration {
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
