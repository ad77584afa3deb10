import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import policy from '../../../docs/rights/deployer.json' with { type: 'json' };

it('the policy of docs/rights/deployer.json has every action that preflight and a deploy say they need', () => {
  const files = globSync(['infra/cli/preflight/*.ts', 'infra/aws/deployed/deployed-data.ts']);
  const named = files.flatMap(
    (file) =>
      readFileSync(file, 'utf8').match(/\b(bedrock|cloudformation|cloudwatch|iam|lambda|servicequotas):[A-Z]\w+/g) ??
      [],
  );
  expect(named.length).toBeGreaterThan(3);
  expect(policy.Statement.flatMap(({ Action }) => Action)).toEqual(expect.arrayContaining(named));
});
