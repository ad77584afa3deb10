import type { IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { ServiceRole } from '../functions/service-role.ts';
import type { Settings } from '../settings.ts';

/** The deployment configurations of AWS that the setting `canary` names. */
const configurations = {
  Canary10Percent15Minutes: LambdaDeploymentConfig.CANARY_10PERCENT_15MINUTES,
  Canary10Percent30Minutes: LambdaDeploymentConfig.CANARY_10PERCENT_30MINUTES,
  Linear10PercentEvery2Minutes: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_2MINUTES,
  Linear10PercentEvery3Minutes: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_3MINUTES,
  Linear10PercentEvery10Minutes: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_10MINUTES,
} as const satisfies Record<NonNullable<Settings['canary']>, unknown>;

/**
 * Moves the traffic of each alias to its new version in steps, with CodeDeploy, and moves it back if an alarm is raised
 * before the last step.
 */
export class Canary extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { aliases, alarms, canary }: { aliases: readonly Alias[]; alarms: IAlarm[]; canary: keyof typeof configurations },
  ) {
    super(scope, id);
    const application = new LambdaApplication(this, 'Application');
    const role = new ServiceRole(this, 'Role', 'codedeploy.amazonaws.com');
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['lambda:GetAlias', 'lambda:UpdateAlias'],
        resources: aliases.map(({ lambda }) => lambda.functionArn),
      }),
    );
    // CodeDeploy reads all alarms of a deployment in one call, and the provisioned concurrency, which no alias has.
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['cloudwatch:DescribeAlarms', 'lambda:GetProvisionedConcurrencyConfig'],
        resources: ['*'],
      }),
    );
    for (const alias of aliases)
      new LambdaDeploymentGroup(this, alias.lambda.node.id, {
        alias,
        alarms,
        application,
        deploymentConfig: configurations[canary],
        // The CDK would add a managed policy with rights to every function of the account.
        role: role.withoutPolicyUpdates(),
      });
  }
}
