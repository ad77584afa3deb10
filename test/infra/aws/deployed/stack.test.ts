import { expect, it } from 'vitest';
import { queueUrlsOf, type Resource, resourceName } from '../../../../infra/aws/deployed/stack.ts';
import { consumers } from '../../../../lib/names/consumers.ts';
import { queues } from '../../../../lib/names/queues.ts';
import { synthesized } from '../synthesized.ts';

const { resources } = synthesized();

/** The resources of a deployed stack, each with its logical id as its name. */
const deployed = ['AWS::SQS::Queue', 'AWS::Lambda::Function'].flatMap((type) =>
  Object.keys(resources(type)).map((id): Resource => ({ id, type, name: id })),
);

it('finds every queue in the stack, and no other resource', () => {
  const urls = queueUrlsOf(deployed);
  expect(Object.keys(urls).sort()).toEqual(Object.keys(queues).sort());
  expect(Object.values(urls).sort()).toEqual(Object.keys(resources('AWS::SQS::Queue')).sort());
});

it.each(Object.keys(consumers))('finds the function %s in the stack', (name) => {
  expect(Object.keys(resources('AWS::Lambda::Function'))).toContain(
    resourceName(deployed, 'AWS::Lambda::Function', name),
  );
});

it('rejects a stack of another service', () => {
  expect(() => queueUrlsOf([])).toThrow('The stack has no deliveries; name a stack of Crewboard of this version.');
});
