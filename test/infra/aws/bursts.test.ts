import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { sizeOf } from '../../../scripts/bursts.ts';
import { allOptions } from './all-options.ts';
import { stackOf } from './synthesized.ts';

/** The highest number of resources of the API that may start at once; API Gateway takes a burst of 40 requests in an account. */
const mostAtOnce = 16;

const files = readdirSync('settings').map(
  (file) => [`of settings/${file}`, JSON.parse(readFileSync(join('settings', file), 'utf8'))] as const,
);

it.each([...files, ['with every option', allOptions] as const])(
  'a stack %s starts few resources of its API at once, when it is created, when it is deleted and when all functions change',
  (_, settings) => {
    const { apiCreated, apiDeleted, apiChanged } = sizeOf(
      Template.fromStack(stackOf(undefined, settings)).toJSON().Resources,
    );
    for (const burst of [apiCreated, apiDeleted, apiChanged]) expect(burst).toBeLessThanOrEqual(mostAtOnce);
  },
);
