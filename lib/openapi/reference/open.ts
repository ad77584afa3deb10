import type * as rows from '../../contract/open.ts';
import type { ReferenceOf } from './row.ts';

/** The words and examples for the open paths. */
export const open = {
  health: { description: 'Asks nothing of what the service depends on.', data: { status: 'ok' } },
  openapi: { description: 'OpenAPI 3.1, made from the same rows as the routes.' },
  docs: { description: 'This document as a page that is searched, and on which each operation can be tried.' },
  docsScript: { description: 'Kept by browsers, and asked for by its `ETag`.' },
} as const satisfies ReferenceOf<typeof rows>;
