import { describe, expect, it } from 'vitest';
import { largestBurst, sizeOf, type TemplateResources } from '../../scripts/bursts.ts';

const resource = (...dependsOn: string[]) => ({ Type: 'AWS::SQS::Queue', DependsOn: dependsOn });

describe('the largest burst', () => {
  it.each([
    ['of independent resources are all of them', 3, { a: resource(), b: resource(), c: resource() }],
    ['of a chain is one', 1, { a: resource(), b: resource('a'), c: resource('b') }],
    ['after one resource are those that wait for it', 2, { a: resource(), b: resource('a'), c: resource('a') }],
    [
      'of two chains has one resource of each, also if they are not level',
      2,
      { a: resource(), b: resource('a'), c: resource('b'), d: resource() },
    ],
    [
      'is found where a first pairing has to be undone',
      2,
      { a: resource(), b: resource(), c: resource('a', 'b'), d: resource('a') },
    ],
  ])('%s', (_, size, resources: TemplateResources) => {
    expect(largestBurst(resources)).toBe(size);
  });

  it('follows references, and dependencies through resources that do not count', () => {
    const role = { Type: 'AWS::IAM::Role', Properties: { A: { 'Fn::GetAtt': ['first', 'Arn'] } } };
    const second = {
      ...resource(),
      Properties: { B: { 'Fn::Sub': `x:\${role}:\${AWS::Region}` }, C: { Ref: 'other' } },
    };
    const resources = { first: resource(), role, second, other: resource() };
    expect(largestBurst(resources, ({ Type }) => Type === 'AWS::SQS::Queue')).toBe(2);
    const independent = { ...resources, role: { Type: 'AWS::IAM::Role' } };
    expect(largestBurst(independent, ({ Type }) => Type === 'AWS::SQS::Queue')).toBe(2);
    expect(largestBurst({ first: resource(), role, second }, ({ Type }) => Type === 'AWS::SQS::Queue')).toBe(1);
  });
});

it('the size of a stack counts retained resources as not deleted, and what follows from new code of functions as changed', () => {
  const of = (Type: string, uses?: string, rest = {}) => ({
    Type,
    Properties: uses ? { A: { Ref: uses } } : {},
    ...rest,
  });
  const resources = {
    log: of('AWS::Logs::LogGroup', undefined, { DeletionPolicy: 'Retain' }),
    ...{ oneFunction: of('AWS::Lambda::Function'), otherFunction: of('AWS::Lambda::Function') },
    ...{ version: of('AWS::Lambda::Version', 'oneFunction'), api: of('AWS::ApiGatewayV2::Api') },
    ...{ oneIntegration: of('AWS::ApiGatewayV2::Integration', 'version') },
    ...{ otherIntegration: of('AWS::ApiGatewayV2::Integration', 'otherFunction') },
  };
  expect(sizeOf(resources)).toEqual({
    resources: 7,
    ...{ apiCreated: 3, apiDeleted: 3, apiChanged: 1 },
    ...{ created: 4, deleted: 3, changed: 2 },
  });
});
