import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { asFunctions } from '../../../../infra/aws/bundle.ts';
import { readGuides } from '../../../../lib/http/docs/guides.ts';

it('a bundle of the documentation page contains the guides and reads no files', async () => {
  const { outputFiles, metafile } = await build({
    ...asFunctions,
    entryPoints: ['lib/http/docs/docs-page.ts'],
    outdir: 'unwritten',
    write: false,
    metafile: true,
  });
  const [code] = outputFiles.filter(({ path }) => path.endsWith('.js')).map(({ text }) => text);
  for (const { title } of readGuides()) expect(code).toContain(title);
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  expect(imported.filter((path) => /^(node:)?fs/.test(path))).toEqual([]);
});
