import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it, onTestFinished } from 'vitest';
import { functionSources } from '../../../infra/aws/bundle.ts';
import { type Endpoint, endpoint } from '../../../lib/contract/endpoint.ts';
import { routes } from '../../../lib/contract/routes.ts';
import { sizeOf } from '../../../scripts/bursts.ts';
import { allOptions } from './all-options.ts';
import { stackOf } from './synthesized.ts';

/**
 * The number of additional endpoints for which the stack must have room, and how many of them have a function of their own: a
 * larger share than of the endpoints of today.
 */
const [more, withOwnFunction] = [40, 34];

/** The highest number of resources, 50 less than CloudFormation accepts in one stack. */
const mostResources = 450;

/** Limits of AWS, from the quotas in the guides of CloudFormation, IAM, AWS Lambda, Amazon API Gateway and CloudWatch. */
const limits = {
  templateBytes: 1_000_000,
  outputs: 200,
  descriptionOfOutput: 1_024,
  /** The inline policies of one role together, in characters without white space. */
  inlinePolicies: 10_240,
  descriptionOfFunction: 256,
  /** The environment variables of one function together. */
  variablesBytes: 4_096,
  descriptionOfAlarm: 1_024,
  routesOfApi: 300,
};

type Properties = {
  Policies?: { PolicyDocument: object }[];
  Description?: string;
  AlarmDescription?: string;
  Environment?: { Variables: object };
};
type Json = {
  Resources: Record<string, { Type: string; Properties: Properties }>;
  Outputs: Record<string, { Description: string }>;
  Parameters: object;
};

const added = Array.from({ length: more }, (_, nth) => {
  const path = `/api/kanban-tasks/:id/added-${nth}` as const;
  const shares = nth < withOwnFunction ? {} : { servedBy: 'added0' };
  const row = endpoint({ method: 'POST', path, summary: 'Added', scope: 'tasks:write', status: 200, ...shares });
  return [`added${nth}`, row] as const;
});

/** Returns the template of the stack with every option and the additional endpoints. */
function grownTemplate(): Json {
  const list = routes as unknown as (readonly [string, Endpoint])[];
  list.push(...added);
  onTestFinished(() => void list.splice(-more));
  const own = added.slice(0, withOwnFunction);
  const sources = own.map(([operation]) => `functions/kanban-tasks/${operation}.ts`);
  return Template.fromStack(stackOf([...functionSources(), ...sources], allOptions)).toJSON() as Json;
}

describe(`a stack with every option and ${more} more endpoints, of which ${withOwnFunction} have a function of their own`, () => {
  it('has fewer resources than CloudFormation accepts, and still starts few of the API at once', () => {
    const { resources, apiCreated } = sizeOf(grownTemplate().Resources);
    expect(resources).toBeLessThan(mostResources);
    expect(apiCreated).toBeLessThanOrEqual(16);
  });

  it('has no text that is longer than AWS accepts, also with the longest names', () => {
    const template = grownTemplate();
    const { Resources, Outputs, Parameters } = template;
    const of = (type: string) =>
      Object.values(Resources).flatMap(({ Type, Properties }) => (Type === type ? [Properties] : []));
    const functions = of('AWS::Lambda::Function');
    const most = (lengths: number[]) => Math.max(...lengths);
    const measured: typeof limits = {
      // The CDK indents the template by one character for each level.
      templateBytes: Buffer.byteLength(JSON.stringify(template, null, 1)),
      outputs: Object.keys(Outputs).length + Object.keys(Parameters ?? {}).length,
      descriptionOfOutput: most(Object.values(Outputs).map(({ Description }) => Description.length)),
      inlinePolicies: most(of('AWS::IAM::Role').map(({ Policies = [] }) => lengthOf(...Policies))),
      descriptionOfFunction: most(functions.map(({ Description = '' }) => Description.length)),
      variablesBytes: most(functions.map(({ Environment }) => lengthOf(Environment?.Variables ?? {}))),
      descriptionOfAlarm: most(
        of('AWS::CloudWatch::Alarm').map(({ AlarmDescription = '' }) => AlarmDescription.length),
      ),
      routesOfApi: of('AWS::ApiGatewayV2::Route').length,
    };
    for (const name of Object.keys(limits) as (keyof typeof limits)[]) {
      expect([name, measured[name] > 0]).toEqual([name, true]);
      expect([name, measured[name]]).toEqual([name, Math.min(measured[name], limits[name])]);
    }
  });
});

/** Returns the length of values in a template, with the longest names instead of references. */
function lengthOf(...values: object[]): number {
  return values.reduce((length, value) => length + JSON.stringify(value, longest).length, 0);
}

/** Replaces a reference of CloudFormation by the longest possible ARN, the ARN of a version of a function. */
function longest(_: string, value: unknown): unknown {
  const isReference =
    typeof value === 'object' && value !== null && Object.keys(value).some((key) => /^(Fn::|Ref$)/.test(key));
  return isReference ? `arn:aws-us-gov:lambda:ap-southeast-1:123456789012:function:${'x'.repeat(64)}:1000` : value;
}
