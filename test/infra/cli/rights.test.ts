import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import policy from '../../../docs/rights/deployer.json' with { type: 'json' };

it('the policy of docs/rights/deployer.json has every action that preflight and a deploy say they need', () => {
  const folder = 'infra/cli';
  const files = readdirSync(folder).filter((name) => /^(preflight|deployed-data)/.test(name));
  const named = files.flatMap(
    (name) => readFileSync(join(folder, name), 'utf8').match(/\b(bedrock|cloudformation|lambda):[A-Z]\w+/g) ?? [],
  );
  expect(named.length).toBeGreaterThan(3);
  expect(policy.Statement.flatMap(({ Action }) => Action)).toEqual(expect.arrayContaining(named));
});
