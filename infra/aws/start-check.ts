import { createHash } from 'node:crypto';
import { type CfnResource, CustomResource, Duration, Lazy, Stack } from 'aws-cdk-lib';
import { type CfnRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { CfnFunction, Version } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { routes } from '../../lib/contract/routes.ts';
import type { StartCheckProperties } from '../../lib/names/start-check.ts';
import { functionVariables } from './functions/function-variables.ts';
import { constructIdOf, ServiceFunction, type SharedProps } from './functions/service-function.ts';
import { FunctionRole } from './functions/service-role.ts';

/** The longest time of a check, in seconds: after it Lambda ends the function, and soon CloudFormation fails the deploy. */
const functionSeconds = 180;
const deploySeconds = 240;

/** The functions that encrypt secrets. */
const encrypting = new Set(
  routes.flatMap(([name, { secrets }]) => (secrets === 'encrypts' ? [constructIdOf(name)] : [])),
);

/**
 * A custom resource that calls functions when a deploy has changed them, and fails the deploy if one does not start: one function
 * of each role and set of environment variables, by the version that will serve
 * (docs/decisions/24-a-deploy-checks-that-its-functions-start.md).
 */
export class StartCheck extends Construct {
  /** The resource of the check: what depends on it happens only if the functions start. */
  readonly resource: CfnResource;

  /** @param versions the versions by which functions are invoked */
  constructor(scope: Construct, id: string, shared: SharedProps, versions: readonly Version[]) {
    super(scope, id);
    const stack = Stack.of(this);
    const functions = stack.node.findAll().filter((node): node is ServiceFunction => node instanceof ServiceFunction);
    const checked = representativesOf(functions).map((handler) => {
      const version = versions.find(({ lambda }) => lambda === handler);
      return { name: handler.node.id, arn: (version ?? handler).functionArn };
    });
    const role = new FunctionRole(this, 'CheckFunctions', shared.settings);
    role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: checked.map(({ arn }) => arn) }),
    );
    const checker = new ServiceFunction(this, 'checkFunctions', {
      ...shared,
      role,
      folder: 'deployment',
      description: 'Called by CloudFormation, to check that functions start',
      timeoutSeconds: functionSeconds,
    });
    const properties: StartCheckProperties = { functions: checked };
    const result = new CustomResource(this, 'Result', {
      serviceToken: checker.functionArn,
      resourceType: 'Custom::StartCheck',
      serviceTimeout: Duration.seconds(deploySeconds),
      properties,
    });
    const resource = result.node.defaultChild as CfnResource;
    this.resource = resource;
    for (const handler of functions) resource.addResourceDependency(handler.node.defaultChild as CfnFunction);
    // Each deploy that changes something has a new resource, which CloudFormation creates. In a rollback it deletes this one
    // instead of updating it, so no rollback checks the version to which it returns.
    const logicalId = stack.getLogicalId(resource);
    resource.overrideLogicalId(
      Lazy.uncachedString({ produce: () => logicalId + digestOf(stack, functions, [shared.settings, properties]) }),
    );
  }
}

/**
 * Returns one function of each role and set of environment variables. The first one encrypts the sample that others decrypt.
 */
function representativesOf(functions: readonly ServiceFunction[]): ServiceFunction[] {
  const groups = Map.groupBy(functions, ({ role, source }) => `${role?.node.path} ${functionVariables[source]}`);
  const first = [...groups.values()].map(([handler]) => handler as ServiceFunction);
  const encrypts = ({ node }: ServiceFunction) => encrypting.has(node.id);
  return [...first.filter(encrypts), ...first.filter((handler) => !encrypts(handler))];
}

/** Returns a digest of all that decides whether the functions start: code, variables, rights, and what else is given. */
function digestOf(stack: Stack, functions: readonly ServiceFunction[], more: readonly object[]): string {
  const parts = functions.map(({ node, role }) => {
    const { code, environment, layers, memorySize, timeout } = node.defaultChild as CfnFunction;
    const cfnRole = role?.node.defaultChild as CfnRole | undefined;
    return [node.path, code, environment, layers, memorySize, timeout, cfnRole?.policies];
  });
  const text = JSON.stringify(stack.resolve([parts, more]));
  return createHash('sha256').update(text).digest('hex').slice(0, 8).toUpperCase();
}
