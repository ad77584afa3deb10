import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { type CfnFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import cdk from '../../../cdk.json' with { type: 'json' };
import { functionSources } from '../../../infra/aws/bundle.ts';
import { ServiceStack } from '../../../infra/aws/service-stack.ts';
import { parseSettings, withDefaultModel } from '../../../infra/aws/settings.ts';
import { createTemporaryFolder } from '../../temporary-files.ts';

/** Stands for every bundle: what is in one is no concern of the template. */
const bundle = createTemporaryFolder();
writeFileSync(join(bundle, 'index.mjs'), 'export const handler = async () => {};');

/** Creates the stack over these sources, with the context of `cdk.json` and the settings of a file of this content. */
export function stackOf(
  sources = functionSources(),
  settings: Record<string, unknown> = {},
  stage?: string,
): ServiceStack {
  // `npm run synth` has CloudFormation's rules checked, which takes seconds; here it would for each test file.
  const app = new App({ context: cdk.context, builtinCloudFormationValidation: false });
  const bundles = new Map(sources.map((source) => [source, bundle]));
  const read = parseSettings(settings, 'settings/test.json', stage);
  return new ServiceStack(app, { bundles, settings: withDefaultModel(read, 'eu-central-1') });
}

/** A statement of a policy. */
export type Statement = { Effect: 'Allow' | 'Deny'; Action: string | string[]; Resource: unknown; Condition?: unknown };

/** What tests look at of a function. */
export type FunctionProperties = {
  Timeout: number;
  MemorySize: number;
  RecursiveLoop?: string;
  Environment: { Variables: Record<string, unknown> };
  LoggingConfig: { LogGroup: { Ref: string } };
  Role: { 'Fn::GetAtt': [string, 'Arn'] };
};

/** A resource of a template. */
type Resource<Properties> = { Properties: Properties; DeletionPolicy?: string };

/** Statements as a role has them inline, and as a resource beside it, which names its roles. */
type PolicyDocument = { PolicyDocument: { Statement: Statement[] } };
type Role = { Policies?: PolicyDocument[] };
type Policy = PolicyDocument & { Roles: { Ref: string }[] };

/** A synthesized stack with these settings, read by the names that the contract gives. */
export function synthesized(context: Record<string, unknown> = {}) {
  const stack = stackOf(undefined, context);
  const template = Template.fromStack(stack);
  const resources = <Properties>(type: string) => template.findResources(type) as Record<string, Resource<Properties>>;
  const functions = resources<FunctionProperties>('AWS::Lambda::Function');

  /** The logical id of the function whose construct has this id. */
  const logicalId = (id: string): string => {
    const found = stack.node.findAll().find((node) => node instanceof LambdaFunction && node.node.id === id);
    if (!found) throw new Error(`There is no function ${id}.`);
    return stack.getLogicalId(found.node.defaultChild as CfnFunction);
  };
  const functionOf = (id: string) => functions[logicalId(id)]?.Properties as FunctionProperties;

  /** The statements of every role, inline ones and those of policies, by the logical id of the role. */
  const statementsByRole = new Map(
    Object.entries(resources<Role>('AWS::IAM::Role')).map(
      ([
        id,
        {
          Properties: { Policies = [] },
        },
      ]) => {
        const attached = Object.values(resources<Policy>('AWS::IAM::Policy')).filter(({ Properties: { Roles } }) =>
          Roles.some(({ Ref }) => Ref === id),
        );
        const documents = [...Policies, ...attached.map(({ Properties }) => Properties)];
        return [id, documents.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)];
      },
    ),
  );

  /** What the role of a function may and may not do. */
  const statementsOf = (id: string): Statement[] =>
    statementsByRole.get(functionOf(id).Role['Fn::GetAtt'][0]) as Statement[];

  /** The actions of a service that a function is allowed, each with the resource it is allowed on, as text. */
  const allowedTo = (id: string, service: string): string[] =>
    statementsOf(id)
      .filter(({ Effect }) => Effect === 'Allow')
      .flatMap(({ Action, Resource }) =>
        [Action].flat().flatMap((action) => [Resource].flat().map((on) => `${action} ${JSON.stringify(on)}`)),
      )
      .filter((allowed) => allowed.startsWith(`${service}:`))
      .sort();

  return { template, resources, functions, logicalId, functionOf, statementsByRole, statementsOf, allowedTo };
}

/** Actions on the attribute `Arn` of a resource, as `allowedTo` writes them. */
export function actionsOn(logicalId: string, actions: readonly string[], attribute = 'Arn'): string[] {
  return actions.map((action) => `${action} {"Fn::GetAtt":["${logicalId}","${attribute}"]}`).sort();
}

/** What reads and what writes items of the table. */
export const reads = ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query'];
export const writes = [
  'dynamodb:BatchWriteItem',
  'dynamodb:ConditionCheckItem',
  'dynamodb:DeleteItem',
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
];
