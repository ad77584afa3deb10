import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledgements.ts';
import { Api } from './api/api.ts';
import type { Bundles } from './bundle.ts';
import { SecretsKey } from './data/secrets-key.ts';
import { ServiceTable } from './data/table.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import { Canary } from './options/canary.ts';
import { Pipeline } from './pipeline.ts';
import { type StackSettings, stackNameOf, standardStage } from './settings.ts';

/** The service in AWS: callers reach the API, the API the table, and what changes there runs down the pipeline. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, { bundles, settings }: { bundles: Bundles; settings: StackSettings }) {
    const { ephemeral, canary } = settings;
    const tags = { service: 'crewboard', stage: settings.stage ?? standardStage, ...settings.tags };
    super(scope, stackNameOf(settings), {
      description: 'Crewboard: AI agents, the board of tasks they work on, and signed webhooks',
      terminationProtection: !ephemeral,
      // CloudFormation adds the tags of a stack to its resources.
      tags,
    });

    const table = new ServiceTable(this, 'GlobalTable', { ...settings, tags });
    const secretsKey = new SecretsKey(this, 'SecretsKey', settings);
    const surroundings = { bundles, table, secretsKey, settings };
    const api = new Api(this, 'Api', surroundings);
    const pipeline = new Pipeline(this, 'Pipeline', surroundings);
    acknowledge(this, settings);
    const { rollbackAlarms: alarms } = new Monitoring(this, 'Monitoring', { api, pipeline, settings });
    if (canary) new Canary(this, 'Canary', { aliases: api.aliases, alarms, canary });

    new CfnOutput(this, 'Url', { value: api.url, description: 'Where the API answers' });
    new CfnOutput(this, 'DefaultModel', {
      value: settings.defaultModel,
      description: 'The model of agents that name none',
    });
    if (settings.allowedModels)
      new CfnOutput(this, 'AllowedModels', {
        value: settings.allowedModels.join(','),
        description: 'The models that agents may name',
      });
    new CfnOutput(this, 'RequestsPerMinute', {
      value: String(settings.requestsPerMinute),
      description: 'How many requests an organization may make in a minute',
    });
    new CfnOutput(this, 'ExecutionsPerMinute', {
      value: String(settings.executionsPerMinute),
      description: 'How many executions an organization may start in a minute',
    });
    new CfnOutput(this, 'TableName', { value: table.inUse.tableName, description: 'The table, for the command line' });
    new CfnOutput(this, 'SecretsKeyArn', { value: secretsKey.arn, description: 'The key of the webhooks’ secrets' });
  }
}
