import { Duration, Stack } from 'aws-cdk-lib';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  type RecursiveLoop,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { fileNameOf } from '../../../lib/contract/routes.ts';
import { environment } from '../../../lib/names/environment.ts';
import type { Bundles } from '../bundle.ts';
import type { SecretsKey } from '../data/secrets-key.ts';
import type { ServiceTable } from '../data/table.ts';
import { traceOptionsOf } from '../options/traces.ts';
import { type StackSettings, variablesOf } from '../settings.ts';
import { functionVariables } from './function-variables.ts';
import type { FunctionRole } from './service-role.ts';

/** The properties that all functions of a stack share. */
export type SharedProps = { bundles: Bundles; table: ServiceTable; secretsKey: SecretsKey; settings: StackSettings };

/** The properties of a function, whose source is `functions/<folder>/<file name of its construct>.ts`. */
export type ServiceFunctionProps = SharedProps & {
  /** The role with the rights of the function. The function logs to the log group of this role. */
  role: FunctionRole;
  folder: string;
  description: string;
  timeoutSeconds: number;
  /** The memory, if it differs from the default. */
  memoryMegabytes?: number | undefined;
  recursiveLoop?: RecursiveLoop;
};

/** Returns the construct id of an operation or a consumer, such as `CreateTask` for `createTask`. */
export function constructIdOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/**
 * A Lambda function with the settings that all functions share.
 *
 * @throws `Error` if the contract names a function without a file
 */
export class ServiceFunction extends LambdaFunction {
  /** The path of its source from the repository's root. */
  readonly source: string;

  /** @param name the operation id or the consumer's name */
  constructor(scope: Construct, name: string, props: ServiceFunctionProps) {
    const {
      bundles,
      table,
      secretsKey,
      settings,
      role,
      folder,
      description,
      timeoutSeconds,
      memoryMegabytes = 512,
      recursiveLoop,
    } = props;
    const source = `functions/${folder}/${fileNameOf(name)}.ts`;
    const bundle = bundles.get(source);
    if (!bundle) throw new Error(`The contract has ${name}, but its function ${source} is missing.`);

    const { environment: traceVariables, ...traced } = traceOptionsOf(scope, name, settings);
    const reserved = settings.reservedConcurrency[name as keyof StackSettings['reservedConcurrency']];

    super(scope, constructIdOf(name), {
      ...traced,
      ...(reserved && { reservedConcurrentExecutions: reserved }),
      description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      // Lambda's share of the processor grows with memory: with 128 MB a cold start takes several times as long.
      memorySize: memoryMegabytes,
      timeout: Duration.seconds(timeoutSeconds),
      ...(recursiveLoop && { recursiveLoop }),
      code: Code.fromAsset(bundle),
      handler: 'index.handler',
      role,
      logGroup: role.logGroup,
      loggingFormat: LoggingFormat.JSON,
      // For a successful call, our own line says more than Lambda's two. Lambda still reports failed calls.
      systemLogLevelV2: SystemLogLevel.WARN,
      environment: {
        NODE_OPTIONS: '--enable-source-maps',
        ...variablesReadBy(source, {
          [environment.tableName]: table.inUse.tableName,
          [environment.serviceName]: Stack.of(scope).stackName,
          [environment.secretsKeyId]: secretsKey.arn,
          ...variablesOf(settings),
        }),
        ...traceVariables,
      },
    });
    this.source = source;
  }
}

/** Returns the variables that a function reads. One that is newer than the last `npm run generate` gets all. */
function variablesReadBy(source: string, all: Readonly<Record<string, string>>): Record<string, string> {
  const names: readonly string[] | undefined = functionVariables[source]?.map((name) => environment[name]);
  return Object.fromEntries(Object.entries(all).filter(([name]) => names?.includes(name) ?? true));
}
