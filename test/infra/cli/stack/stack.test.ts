import { expect, it } from 'vitest';
import { partOf, queueUrlsOf, type Resource } from '../../../../infra/cli/stack/stack.ts';
import { consumers } from '../../../../lib/deployment/consumers.ts';
import { queues } from '../../../../lib/deployment/queues.ts';
import { synthesized } from '../../aws/synthesized.ts';

const { resources } = synthesized();

/** What a deployed stack tells of its resources, each called by its id. */
const deployed = ['AWS::SQS::Queue', 'AWS::Lambda::Function'].flatMap((type) =>
  Object.keys(resources(type)).map((id): Resource => ({ id, type, name: id })),
);

it('finds every queue of the contract in the stack, and no other', () => {
  const urls = queueUrlsOf(deployed);
  expect(Object.keys(urls).sort()).toEqual(Object.keys(queues).sort());
  expect(Object.values(urls).sort()).toEqual(Object.keys(resources('AWS::SQS::Queue')).sort());
});

it.each(Object.keys(consumers))('finds the function %s in the stack', (name) => {
  expect(Object.keys(resources('AWS::Lambda::Function'))).toContain(partOf(deployed, 'AWS::Lambda::Function', name));
});

it('says of another stack that it has none of it', () => {
  expect(() => queueUrlsOf([])).toThrow('The stack has no deliveries; is it one of Crewboard, and of this version?');
});
