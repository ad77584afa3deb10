import { expect, it } from 'vitest';
import { partOf, queuesOf, type Resource } from '../../../infra/cli/stack.ts';
import { consumers } from '../../../lib/contract/consumers.ts';
import { queues } from '../../../lib/contract/deployment.ts';
import { synthesized } from '../synthesized.ts';

const { resources } = synthesized();

/** What a deployed stack tells of its resources, each called by its id. */
const deployed = ['AWS::SQS::Queue', 'AWS::Lambda::Function'].flatMap((type) =>
  Object.keys(resources(type)).map((id): Resource => ({ id, type, name: id })),
);

it('finds every queue of the contract in the stack, and its dead letters', () => {
  const found = queuesOf(deployed);
  expect(found.map(({ queue }) => queue)).toEqual(Object.keys(queues));
  for (const { queue, url, deadUrl } of found) {
    const { Properties } = resources<{ RedrivePolicy?: object }>('AWS::SQS::Queue')[url] as { Properties: object };
    const policy = { deadLetterTargetArn: { 'Fn::GetAtt': [deadUrl, 'Arn'] } };
    if ('deadLetters' in queues[queue])
      expect([deadUrl, Properties]).toEqual([url, expect.not.objectContaining(policy)]);
    else expect(Properties).toMatchObject({ RedrivePolicy: policy });
  }
  expect(new Set(found.flatMap(({ url, deadUrl }) => [url, deadUrl]))).toEqual(
    new Set(Object.keys(resources('AWS::SQS::Queue'))),
  );
});

it.each(Object.keys(consumers))('finds the function %s in the stack', (name) => {
  expect(Object.keys(resources('AWS::Lambda::Function'))).toContain(partOf(deployed, 'AWS::Lambda::Function', name));
});

it('says of another stack that it has none of it', () => {
  expect(() => queuesOf([])).toThrow('The stack has no deliveries; is it one of Crewboard, and of this version?');
});
