import { PolicyDocument, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { Settings } from '../settings.ts';
import { ServiceLog } from './service-log.ts';

/**
 * A role that one AWS service may assume. Its rights are an inline policy of the role. The CDK's own role keeps them in
 * a resource beside it, and a stack can have 500 resources at most.
 */
export class ServiceRole extends Role {
  private readonly rights: PolicyDocument;

  /** @param service the name of the service principal, such as `lambda.amazonaws.com` */
  constructor(scope: Construct, id: string, service: string) {
    const rights = new PolicyDocument();
    super(scope, id, { assumedBy: new ServicePrincipal(service), inlinePolicies: { Rights: rights } });
    this.rights = rights;
  }

  /** Adds a right to the inline policy; every `grant` of the CDK ends here. */
  override addToPrincipalPolicy(statement: PolicyStatement) {
    this.rights.addStatements(statement);
    return { statementAdded: true, policyDependable: this };
  }
}

/**
 * The role of one function, or of several that have the same rights, and the log group that they write to. The role may
 * write to this log group and has no other right at first.
 */
export class FunctionRole extends ServiceRole {
  readonly logGroup: ServiceLog;

  /** @param name the name of the function or of the set of rights; the constructs are `<name>Role` and `<name>Log` */
  constructor(scope: Construct, name: string, settings: Settings) {
    super(scope, `${name}Role`, 'lambda.amazonaws.com');
    this.logGroup = new ServiceLog(scope, `${name}Log`, settings);
    this.logGroup.grantWrite(this);
  }
}
