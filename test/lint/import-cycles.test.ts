import { expect, it } from 'vitest';
import { filesThatFail, importing } from './lint.ts';

const importingType = (source: string) => `import type { Thing } from '${source}';\nexport type Other = Thing;\n`;

/** Returns two files that import the type of each other, in a folder of their own. */
const typeCycle = (folder: string) => [
  [`${folder}/a.ts`, importingType('./b.ts')] as const,
  [`${folder}/b.ts`, importingType('./a.ts')] as const,
];

const cyclic = [
  ['lib/table/values/a.ts', importing('./b.ts')] as const,
  ['lib/table/values/b.ts', importing('./c.ts')] as const,
  ['lib/table/values/c.ts', importing('./a.ts')] as const,
  ['lib/table/mixed/a.ts', importingType('./b.ts')] as const,
  ['lib/table/mixed/b.ts', importing('./a.ts')] as const,
  ...['lib/table/types', 'functions/open', 'infra/aws', 'test/soak'].flatMap(typeCycle),
];

it('the linter reports each import of a cycle, and no import of a file from outside', () => {
  const outside = ['lib/table/above.ts', importing('./values/a.ts')] as const;
  const offending = filesThatFail('suspicious/noImportCycles', [...cyclic, outside]);
  expect([...offending].sort()).toEqual(cyclic.map(([file]) => file).sort());
});
