import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Api } from './api.ts';
import type { Bundles } from './bundle.ts';
import { Pipeline } from './pipeline.ts';
import { ServiceTable } from './table.ts';

/** Whether the context says `-c ephemeral=true`: a stack to throw away, which takes its data along. */
export function isEphemeral(scope: Construct): boolean {
  return String(scope.node.tryGetContext('ephemeral')) === 'true';
}

/** The service in AWS: callers reach the API, the API the table, and what changes there runs down the pipeline. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, { bundles }: { bundles: Bundles }) {
    const ephemeral = isEphemeral(scope);
    super(scope, id, {
      description: 'Crewboard: AI agents, the board of tasks they work on, and signed webhooks',
      terminationProtection: !ephemeral,
    });

    const table = new ServiceTable(this, 'Table', { ephemeral });
    const api = new Api(this, 'Api', { bundles, table, ephemeral });
    new Pipeline(this, 'Pipeline', { bundles, table, ephemeral });

    new CfnOutput(this, 'Url', { value: api.url, description: 'Where the API answers' });
    new CfnOutput(this, 'TableName', { value: table.tableName, description: 'The table, for the command line' });
  }
}
