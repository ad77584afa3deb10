import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('every function that calls models counts their tokens', () => {
  const sources = globSync('functions/*/*.ts').map((file) => readFileSync(file, 'utf8'));
  const calling = sources.filter((source) => source.includes('createBedrockModel('));
  expect(calling).toHaveLength(2);
  for (const source of calling) {
    expect(source).toContain('meteredModel(createBedrockModel(');
    expect(source).toContain('metering(() =>');
  }
});
