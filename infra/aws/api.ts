import { HttpApi, HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Construct } from 'constructs';
import type { Endpoint } from '../../lib/contract/endpoint.ts';
import { familyOf, routes } from '../../lib/contract/endpoints.ts';
import { ServiceFunction, type Surroundings } from './service-function.ts';

/** API Gateway gives up at 30 s; a function that ends before can still answer in the envelope. */
const timeoutSeconds = 29;

/** The HTTP API: a route and a function for each row of the contract, and one for all that no row serves. */
export class Api extends Construct {
  /** Where it answers, without a slash at the end. */
  readonly url: string;

  constructor(scope: Construct, id: string, surroundings: Surroundings) {
    super(scope, id);
    const unmatched = new ServiceFunction(this, 'unmatched', {
      ...surroundings,
      folder: 'open',
      description: 'Answer what no route serves',
      timeoutSeconds,
    });
    const api = new HttpApi(this, 'Http', {
      description: 'Crewboard',
      defaultIntegration: new HttpLambdaIntegration('Unmatched', unmatched),
    });
    this.url = api.apiEndpoint;

    for (const [operation, row] of routes) {
      const handler = new ServiceFunction(this, operation, {
        ...surroundings,
        folder: familyOf(row),
        description: row.summary,
        timeoutSeconds,
      });
      allow(row, handler, surroundings);
      api.addRoutes({
        path: row.path.replaceAll(/:(\w+)/g, '{$1}'),
        methods: [HttpMethod[row.method]],
        integration: new HttpLambdaIntegration(handler.node.id, handler),
      });
    }
  }
}

/** Open paths have no data to read; every other row reads tokens, and GET rows nothing but read. */
function allow(row: Endpoint, handler: ServiceFunction, { table }: Surroundings): void {
  if (!row.scope) return;
  table.allowReads(handler);
  if (row.method !== 'GET') table.allowWrites(handler);
}
