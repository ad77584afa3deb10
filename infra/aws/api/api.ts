import { Aws, Duration, Fn, Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  type CfnStage,
  CorsHttpMethod,
  type CorsPreflightOptions,
  HttpApi,
  HttpMethod,
  type HttpRoute,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Alias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { type Endpoint, templateOf } from '../../../lib/contract/endpoint.ts';
import { familyOf, routes } from '../../../lib/contract/routes.ts';
import { ServiceFunction, type Surroundings } from '../functions/service-function.ts';
import { ServiceLog } from '../functions/service-log.ts';
import { CustomDomain } from '../options/custom-domain.ts';
import type { Settings } from '../settings.ts';
import { ApiRoles } from './api-roles.ts';
import { InvokerRole } from './invoker-role.ts';

/** API Gateway gives up at 30 s; a function that ends before can still answer in the envelope. */
const timeoutSeconds = 29;

/** A line for each request, also for what reaches no function: whom it came from and what it was answered. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    time: '$context.requestTime',
    source: '$context.identity.sourceIp',
    route: '$context.routeKey',
    status: '$context.status',
    latencyMs: '$context.responseLatency',
    error: '$context.integrationErrorMessage',
  }),
);

/**
 * Returns the name of the access log's group. API Gateway has each group that it writes to allowed by the account's
 * policy of CloudWatch Logs, which holds 5,120 characters; groups below `/aws/vendedlogs/` share one statement. The part
 * at the end is unique: a stack that was deleted has left its log, and one of the same name can be created again.
 */
function accessLogName(): string {
  return `/aws/vendedlogs/${Aws.STACK_NAME}/access/${Fn.select(2, Fn.split('/', Aws.STACK_ID))}`;
}

/** What pages of these origins may send and read. Requests carry a token, never a cookie. */
function corsFor(allowOrigins: string[]): CorsPreflightOptions {
  return {
    allowOrigins,
    allowMethods: [CorsHttpMethod.GET, CorsHttpMethod.POST, CorsHttpMethod.PATCH, CorsHttpMethod.DELETE],
    allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match'],
    exposeHeaders: ['ETag', 'Idempotency-Replayed', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id'],
    maxAge: Duration.hours(1),
  };
}

/** The HTTP API: a route and a function for each row of the contract, and one for all that no row serves. */
export class Api extends Construct {
  /** Where it answers, without a slash at the end. */
  readonly url: string;
  /** A line for each request. */
  readonly accessLog: ServiceLog;
  /** The aliases that the routes invoke; none where a deploy moves all traffic at once. */
  readonly aliases: Alias[] = [];
  readonly #api: HttpApi;

  constructor(scope: Construct, id: string, surroundings: Surroundings) {
    super(scope, id);
    const roles = new ApiRoles(this, surroundings);
    const { throttleRate, throttleBurst, corsOrigins, customDomain, canary } = surroundings.settings;
    // Another role for aliases: the role of before may invoke the functions until no integration has it any more.
    const invoker = new InvokerRole(this, canary ? 'AliasInvoker' : 'Invoker');
    const integrationFor = (handler: ServiceFunction) => {
      if (!canary) return invoker.integrationFor(handler.node.id, handler);
      const alias = new Alias(handler, 'Live', { aliasName: 'live', version: handler.currentVersion });
      this.aliases.push(alias);
      return invoker.integrationFor(handler.node.id, alias);
    };
    const unmatched = new ServiceFunction(this, 'unmatched', {
      ...surroundings,
      role: roles.withRights([]),
      folder: 'open',
      description: 'Answer what no route serves',
      timeoutSeconds,
    });
    const api = new HttpApi(this, 'Http', {
      apiName: Stack.of(this).stackName,
      description: 'Crewboard',
      defaultIntegration: integrationFor(unmatched),
      createDefaultStage: false,
      ...(corsOrigins && { corsPreflight: corsFor(corsOrigins) }),
      ...(customDomain?.disableExecuteApiEndpoint && { disableExecuteApiEndpoint: true }),
    });
    this.#api = api;
    this.accessLog = new ServiceLog(this, 'AccessLog', surroundings.settings, accessLogName());
    const stage = api.addStage('Stage', {
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: throttleRate, burstLimit: throttleBurst },
      accessLogSettings: { destination: new LogGroupLogDestination(this.accessLog), format: accessLogFormat },
    });
    this.url = customDomain ? new CustomDomain(this, 'Domain', api, stage, customDomain).url : api.apiEndpoint;

    for (const [operation, row] of routes) {
      const handler = new ServiceFunction(this, operation, {
        ...surroundings,
        role: roles.of(row),
        folder: familyOf(row),
        description: row.summary,
        timeoutSeconds,
      });
      if (row.secrets) surroundings.secretsKey.identifyTo(handler);
      const added = api.addRoutes({
        path: templateOf(row.path),
        methods: [HttpMethod[row.method]],
        integration: integrationFor(handler),
      });
      throttle(stage.node.defaultChild as CfnStage, row, added, surroundings.settings);
    }
  }

  /** What API Gateway counts of it. */
  metric(metricName: string, statistic: string, period: Duration): Metric {
    return this.#api.metric(metricName, { statistic, period });
  }
}

/**
 * Gives a costly route a throttle of its own, so that it cannot take all concurrency of the account. The stage depends on
 * the route: API Gateway refuses settings of a route that does not exist.
 */
function throttle(stage: CfnStage, row: Endpoint, added: readonly HttpRoute[], settings: Settings): void {
  const limits = throttleOf(row, settings);
  if (!limits) return;
  stage.routeSettings = { ...stage.routeSettings, [`${row.method} ${templateOf(row.path)}`]: limits };
  stage.node.addDependency(...added);
}

function throttleOf({ callsOut, startsExecution }: Endpoint, settings: Settings) {
  if (callsOut)
    return {
      ThrottlingRateLimit: settings.callsOutThrottleRate,
      ThrottlingBurstLimit: settings.callsOutThrottleBurst,
    };
  if (startsExecution)
    return {
      ThrottlingRateLimit: settings.executionThrottleRate,
      ThrottlingBurstLimit: settings.executionThrottleBurst,
    };
  return undefined;
}
