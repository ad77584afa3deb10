import { Stack } from 'aws-cdk-lib';
import { type FunctionOptions, LayerVersion, Tracing } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { DeploySettings } from '../settings.ts';

/** The options of a function that decide its traces. */
type TraceOptions = Pick<FunctionOptions, 'layers' | 'tracing' | 'environment'>;

/**
 * Returns the options of a function that is traced by the OpenTelemetry layer of the settings; none without a layer. Active
 * tracing of X-Ray gives the function the right to write traces, and starts the process that receives them.
 *
 * @param name the function's name in the contract
 */
export function traceOptionsOf(scope: Construct, name: string, { openTelemetry }: DeploySettings): TraceOptions {
  if (!openTelemetry) return {};
  const { layer, wrapper, variables } = openTelemetry;
  return {
    layers: [LayerVersion.fromLayerVersionArn(scope, `${name}OpenTelemetry`, layer)],
    tracing: Tracing.ACTIVE,
    environment: {
      AWS_LAMBDA_EXEC_WRAPPER: wrapper,
      // Only traces: the metrics of Application Signals are billed separately, and need a right to another log group.
      OTEL_AWS_APPLICATION_SIGNALS_ENABLED: 'false',
      OTEL_SERVICE_NAME: `${Stack.of(scope).stackName}-${name}`,
      ...variables,
    },
  };
}
