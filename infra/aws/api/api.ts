import { Aws, type CfnResource, Duration, Fn, Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  CfnIntegration,
  CfnRoute,
  type CfnStage,
  CorsHttpMethod,
  type CorsPreflightOptions,
  HttpApi,
  HttpMethod,
  type HttpRouteIntegration,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnVersion, Version } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { type Endpoint, methodsOf, templateOf } from '../../../lib/contract/endpoint.ts';
import { functionFolderOf, functionNameOf, routes } from '../../../lib/contract/routes.ts';
import { cors } from '../../../lib/settings/cors.ts';
import { ServiceFunction, type SharedProps } from '../functions/service-function.ts';
import { ServiceLog } from '../functions/service-log.ts';
import { CustomDomain } from '../options/custom-domain.ts';
import type { DeploySettings } from '../settings.ts';
import { ApiRoles } from './api-roles.ts';
import { InvokerRole } from './invoker-role.ts';

/** The timeout of API functions. It is below the timeout of API Gateway, 30 s, so that a function can still respond. */
const timeoutSeconds = 29;

/** The time of a response in the access log. Unlike the other variables it is not quoted: a metric needs a number. */
const responseLatency = '$context.responseLatency';

/**
 * How many integrations, and how many routes, CloudFormation creates, changes or deletes at the same time. The control plane of
 * API Gateway allows 10 requests a second with a burst of 40, for all APIs of an account together, and cannot be raised.
 */
const changedAtOnce = 8;

/** The format of the access log: a line for each request, also if it reaches no function. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    time: '$context.requestTime',
    source: '$context.identity.sourceIp',
    route: '$context.routeKey',
    status: '$context.status',
    latencyMs: responseLatency,
    error: '$context.integrationErrorMessage',
  }).replace(`"${responseLatency}"`, responseLatency),
);

/**
 * Returns the name of the log group of the access log. API Gateway adds each log group to the account's resource policy of
 * CloudWatch Logs, which is limited to 5,120 characters; groups below `/aws/vendedlogs/` share one statement. The last part
 * is unique, because the log group of a deleted stack remains, and a stack of the same name can be created again.
 */
function accessLogName(): string {
  return `/aws/vendedlogs/${Aws.STACK_NAME}/access/${Fn.select(2, Fn.split('/', Aws.STACK_ID))}`;
}

/** Returns the CORS settings for web pages of these origins. */
function corsFor(allowOrigins: string[]): CorsPreflightOptions {
  return {
    allowOrigins,
    allowMethods: cors.methods.map((method) => CorsHttpMethod[method]),
    allowHeaders: [...cors.allowHeaders],
    exposeHeaders: [...cors.exposeHeaders],
    maxAge: Duration.seconds(cors.maxAgeSeconds),
  };
}

/** Returns the name that API Gateway gives the route of an endpoint, such as `GET /api/agents/{name}`. */
export function routeKeyOf({ method, path }: Endpoint): string {
  return `${method} ${templateOf(path)}`;
}

/** The HTTP API: a route for each endpoint, its function, and a function for all other requests. */
export class Api extends Construct {
  /** The URL of the API, without a slash at the end. */
  readonly url: string;
  /** The log of all requests. */
  readonly accessLog: ServiceLog;
  /** The versions of the functions that the routes invoke: each deploy publishes one of each function that it changes. */
  readonly versions: Version[] = [];
  readonly #api: HttpApi;
  /** The integrations that no other one precedes. */
  readonly #firstIntegrations: readonly CfnIntegration[];

  constructor(scope: Construct, id: string, shared: SharedProps) {
    super(scope, id);
    const roles = new ApiRoles(this, shared);
    const { throttleRate, throttleBurst, corsOrigins, customDomain } = shared.settings;
    const invoker = new InvokerRole(this, 'Invoker');
    const integrationFor = (handler: ServiceFunction) => {
      this.versions.push(handler.currentVersion);
      return invoker.integrationFor(handler.node.id, handler.currentVersion);
    };
    const unmatched = new ServiceFunction(this, 'unmatched', {
      ...shared,
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
    this.accessLog = new ServiceLog(this, 'AccessLog', shared.settings, accessLogName());
    const stage = api.addStage('Stage', {
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: throttleRate, burstLimit: throttleBurst },
      accessLogSettings: { destination: new LogGroupLogDestination(this.accessLog), format: accessLogFormat },
    });
    this.url = customDomain ? new CustomDomain(this, 'Domain', api, stage, customDomain).url : api.apiEndpoint;

    const integrations = new Map<string, HttpRouteIntegration>();
    for (const [operation, row] of routes) {
      const name = functionNameOf(operation, row);
      if (name === operation) {
        const handler = new ServiceFunction(this, name, {
          ...shared,
          role: roles.of(row),
          folder: functionFolderOf(row),
          description: row.summary,
          timeoutSeconds,
        });
        integrations.set(name, integrationFor(handler));
      }
      api.addRoutes({
        path: templateOf(row.path),
        methods: methodsOf(row).map((method) => HttpMethod[method]),
        integration: integrations.get(name) as HttpRouteIntegration,
      });
      throttle(stage.node.defaultChild as CfnStage, row, shared.settings);
    }
    const parts = api.node.findAll();
    this.#firstIntegrations = inGroups(parts.filter((part) => part instanceof CfnIntegration)).first;
    for (const { node } of this.versions) this.switchAfter(node.defaultChild as CfnVersion);
    const { last: lastRoutes } = inGroups(parts.filter((part) => part instanceof CfnRoute));
    // The stage is changed last, because API Gateway rejects settings of a route that does not exist.
    for (const route of lastRoutes) (stage.node.defaultChild as CfnStage).addResourceDependency(route);
  }

  /**
   * Lets requests reach the new versions only after a resource, such as a check of all versions, is finished. If it fails,
   * CloudFormation rolls the stack back before any request has reached a new version.
   */
  switchAfter(resource: CfnResource): void {
    for (const integration of this.#firstIntegrations) integration.addResourceDependency(resource);
  }

  /** Returns a metric of API Gateway for the API. */
  metric(metricName: string, statistic: string, period: Duration): Metric {
    return this.#api.metric(metricName, { statistic, period });
  }
}

/**
 * Lets each resource wait for the resource `changedAtOnce` places before it, so that this number of them is changed at the
 * same time.
 *
 * @returns the first resources, which precede all others, and the last ones, which follow all others
 */
function inGroups<Resource extends CfnResource>(resources: readonly Resource[]): Record<'first' | 'last', Resource[]> {
  for (const [at, resource] of resources.slice(changedAtOnce).entries())
    resource.addResourceDependency(resources[at] as Resource);
  return { first: resources.slice(0, changedAtOnce), last: resources.slice(-changedAtOnce) };
}

/** Gives a costly route its own throttle, so that it cannot use all concurrency of the account. */
function throttle(stage: CfnStage, row: Endpoint, settings: DeploySettings): void {
  const limits = throttleOf(row, settings);
  if (limits) stage.routeSettings = { ...stage.routeSettings, [routeKeyOf(row)]: limits };
}

function throttleOf({ callsOut, startsExecution }: Endpoint, settings: DeploySettings) {
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
