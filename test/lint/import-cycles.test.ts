import { beforeAll, expect, it } from 'vitest';
import { filesThatFail, importing } from './lint.ts';

const importingType = (source: string) => `import type { Thing } from '${source}';\nexport type Other = Thing;\n`;

/** Files in import cycles, each cycle in a separate folder. */
const cyclic = [
  ['lib/table/values/a.ts', importing('./b.ts')],
  ['lib/table/values/b.ts', importing('./c.ts')],
  ['lib/table/values/c.ts', importing('./a.ts')],
  ['lib/table/types/a.ts', importingType('./b.ts')],
  ['lib/table/types/b.ts', importingType('./a.ts')],
  ['lib/table/mixed/a.ts', importingType('./b.ts')],
  ['lib/table/mixed/b.ts', importing('./a.ts')],
  ['functions/open/a.ts', importingType('./b.ts')],
  ['functions/open/b.ts', importingType('./a.ts')],
  ['infra/aws/a.ts', importingType('./b.ts')],
  ['infra/aws/b.ts', importingType('./a.ts')],
  ['test/soak/a.ts', importingType('./b.ts')],
  ['test/soak/b.ts', importingType('./a.ts')],
] as const;

/** Files outside every cycle, one of which imports a file of a cycle. */
const acyclic = [
  ['lib/table/above.ts', importing('./values/a.ts')],
  ['lib/table/below.ts', 'export const thing = 1;\n'],
  ['lib/table/beside.ts', importing('./below.ts')],
] as const;

let offending: Set<string>;

beforeAll(() => {
  offending = filesThatFail('suspicious/noImportCycles', [...cyclic, ...acyclic]);
});

it.each(cyclic)('the linter reports the import of %s that closes a cycle', (file) => {
  expect(offending).toContain(file);
});

it.each(acyclic)('the linter accepts the imports of %s, which close no cycle', (file) => {
  expect(offending).not.toContain(file);
});
