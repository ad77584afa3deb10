import { defineConfig } from 'vitest/config';
import { quickTests } from '../../vitest.config.ts';

/** Tests of other code. Some of them read the code as text and fail because StrykerJS has changed it. */
const ofOtherCode = [
  'test/{bench,contract,docs,fuzz,lint,scripts}/**',
  'test/infra/!(cli)/**',
  'test/infra/**/!(reconcile)/*.test.ts',
];

/** The quick tests as `npm run mutation` runs them. A file that shared its modules would not evaluate the changed ones again. */
export default defineConfig({
  test: { ...quickTests, isolate: true, exclude: [...quickTests.exclude, ...ofOtherCode] },
});
