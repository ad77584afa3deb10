import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { type CfnFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import cdk from '../../../cdk.json' with { type: 'json' };
import { functionSources } from '../../../infra/aws/bundle.ts';
import { constructIdOf } from '../../../infra/aws/functions/service-function.ts';
import { ServiceStack } from '../../../infra/aws/service-stack.ts';
import { parseSettings, withDefaultModel } from '../../../infra/aws/settings.ts';
import { createTemporaryFolder } from '../../temporary-files.ts';

/** Replaces every bundle, because the template does not depend on its content. */
const bundle = createTemporaryFolder();
writeFileSync(join(bundle, 'index.mjs'), 'export const handler = async () => {};');

/**
 * Creates the stack of these sources, with the context of `cdk.json` and these settings.
 *
 * @param changed the folders of bundles that differ from all others, by their sources
 */
export function stackOf(
  sources = functionSources(),
  settings: Record<string, unknown> = {},
  stage?: string,
  changed: Readonly<Record<string, string>> = {},
): ServiceStack {
  // `npm run synth` validates by CloudFormation's rules, which takes seconds; here it would for each test file.
  const app = new App({ context: cdk.context, builtinCloudFormationValidation: false });
  const bundles = new Map(sources.map((source) => [source, changed[source] ?? bundle]));
  const read = parseSettings(settings, 'settings/test.json', stage);
  return new ServiceStack(app, { bundles, settings: withDefaultModel(read, 'eu-central-1') });
}

export type Statement = { Effect: 'Allow' | 'Deny'; Action: string | string[]; Resource: unknown; Condition?: unknown };

/** Synthesizes the stack with these settings, and returns functions that read its template by names of the contract. */
export function synthesized(context: Record<string, unknown> = {}) {
  const stack = stackOf(undefined, context);
  const template = Template.fromStack(stack);
  const resources = (type: string) => template.findResources(type);
  const propertiesOf = (type: string) => Object.values(resources(type)).map(({ Properties }) => Properties);
  const functions = resources('AWS::Lambda::Function');

  const logicalId = (id: string): string => {
    const found = stack.node.findAll().find((node) => node instanceof LambdaFunction && node.node.id === id);
    if (!found) throw new Error(`There is no function ${id}.`);
    return stack.getLogicalId(found.node.defaultChild as CfnFunction);
  };
  const queueOf = (name: string): string =>
    Object.keys(resources('AWS::SQS::Queue')).find((id) =>
      new RegExp(`^Pipeline${constructIdOf(name)}[0-9A-F]{8}$`).test(id),
    ) as string;
  const functionOf = (id: string) => functions[logicalId(id)]?.Properties;

  /** The statements of every role, inline ones and statements of policies, by the logical id of the role. */
  const attached = propertiesOf('AWS::IAM::Policy');
  const statementsByRole = new Map(
    Object.entries(resources('AWS::IAM::Role')).map(([id, { Properties }]) => {
      const own = attached.filter(({ Roles }) => JSON.stringify(Roles).includes(`"${id}"`));
      const documents = [...(Properties.Policies ?? []), ...own];
      return [id, documents.flatMap(({ PolicyDocument }) => PolicyDocument.Statement as Statement[])];
    }),
  );

  const statementsOf = (id: string): Statement[] =>
    statementsByRole.get(functionOf(id).Role['Fn::GetAtt'][0]) as Statement[];

  /** Returns the allowed actions of a function in a service, each with its resource, as text. */
  const allowedTo = (id: string, service: string): string[] =>
    statementsOf(id)
      .filter(({ Effect }) => Effect === 'Allow')
      .flatMap(({ Action, Resource }) =>
        [Action].flat().flatMap((action) => [Resource].flat().map((on) => `${action} ${JSON.stringify(on)}`)),
      )
      .filter((allowed) => allowed.startsWith(`${service}:`))
      .sort();

  return {
    ...{ template, resources, propertiesOf, functions, logicalId, functionOf, queueOf },
    ...{ statementsByRole, statementsOf, allowedTo },
  };
}

/** The actions that read and that write items of the table. */
export const reads = ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query'];
export const writes = [
  'dynamodb:BatchWriteItem',
  'dynamodb:ConditionCheckItem',
  'dynamodb:DeleteItem',
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
];
