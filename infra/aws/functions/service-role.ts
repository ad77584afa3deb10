import { PolicyDocument, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { DeploySettings } from '../settings.ts';
import { ServiceLog } from './service-log.ts';

/**
 * A role that one AWS service may assume. Its rights are an inline policy. The CDK's own role would store them in a separate
 * resource, and a stack can have at most 500 resources.
 */
export class ServiceRole extends Role {
  private readonly rights: PolicyDocument;

  /**
   * @param service the name of the service principal, such as `lambda.amazonaws.com`
   * @param conditions the conditions under which the service can assume the role
   */
  constructor(scope: Construct, id: string, service: string, conditions: Record<string, unknown> = {}) {
    const rights = new PolicyDocument();
    super(scope, id, { assumedBy: new ServicePrincipal(service, { conditions }), inlinePolicies: { Rights: rights } });
    this.rights = rights;
  }

  /** Adds a right to the inline policy. Every `grant` method of the CDK calls this method. */
  override addToPrincipalPolicy(statement: PolicyStatement) {
    this.rights.addStatements(statement);
    return { statementAdded: true, policyDependable: this };
  }
}

/**
 * The role of one function, or of several with the same rights, and their log group. At first the role has only the right
 * to write to this log group.
 */
export class FunctionRole extends ServiceRole {
  readonly logGroup: ServiceLog;

  /** @param name the name of the function or of the set of rights; the constructs are `<name>Role` and `<name>Log` */
  constructor(scope: Construct, name: string, settings: DeploySettings) {
    super(scope, `${name}Role`, 'lambda.amazonaws.com');
    this.logGroup = new ServiceLog(scope, `${name}Log`, settings);
    this.logGroup.grantWrite(this);
  }
}
