import { CfnOutput, PermissionsBoundary, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledgements.ts';
import { Api } from './api/api.ts';
import type { Bundles } from './bundle.ts';
import { SecretsKey } from './data/secrets-key.ts';
import { ServiceTable } from './data/table.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import { Pipeline } from './pipeline.ts';
import { type StackSettings, stackNameOf, standardStage } from './settings.ts';
import { StartCheck } from './start-check.ts';

/** The service in AWS: the API writes to the table, and the table's stream feeds the pipeline. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, { bundles, settings }: { bundles: Bundles; settings: StackSettings }) {
    const { ephemeral, permissionsBoundary } = settings;
    const tags = { service: 'crewboard', stage: settings.stage ?? standardStage, ...settings.tags };
    super(scope, stackNameOf(settings), {
      description: 'Crewboard: AI agents, the board of tasks they work on, and signed webhooks',
      terminationProtection: !ephemeral,
      // CloudFormation adds the tags of a stack to its resources.
      tags,
      ...(permissionsBoundary && { permissionsBoundary: PermissionsBoundary.fromName(permissionsBoundary) }),
    });

    const table = new ServiceTable(this, 'GlobalTable', { ...settings, tags });
    const secretsKey = new SecretsKey(this, 'SecretsKey', settings);
    const shared = { bundles, table, secretsKey, settings };
    const api = new Api(this, 'Api', shared);
    const pipeline = new Pipeline(this, 'Pipeline', shared);
    api.switchAfter(new StartCheck(this, 'StartCheck', shared, api.versions).resource);
    acknowledge(this, settings);
    new Monitoring(this, 'Monitoring', { api, pipeline, settings });

    new CfnOutput(this, 'Url', { value: api.url, description: 'The URL of the API' });
    new CfnOutput(this, 'DefaultModel', {
      value: settings.defaultModel,
      description: 'The default model of agents',
    });
    if (settings.allowedModels)
      new CfnOutput(this, 'AllowedModels', {
        value: settings.allowedModels.join(','),
        description: 'The models that agents may name',
      });
    new CfnOutput(this, 'RequestsPerMinute', {
      value: String(settings.requestsPerMinute),
      description: 'The limit of requests of an organization in a minute',
    });
    new CfnOutput(this, 'ExecutionsPerMinute', {
      value: String(settings.executionsPerMinute),
      description: 'The limit of executions that an organization starts in a minute',
    });
    if (settings.dailyTokens !== undefined)
      new CfnOutput(this, 'DailyTokens', {
        value: String(settings.dailyTokens),
        description: 'The budget of tokens of the executions of an organization in a UTC day',
      });
    new CfnOutput(this, 'TableName', {
      value: table.inUse.tableName,
      description: 'The name of the table, for the command line',
    });
    new CfnOutput(this, 'SecretsKeyArn', {
      value: secretsKey.arn,
      description: 'The key that encrypts the secrets of webhooks',
    });
  }
}
