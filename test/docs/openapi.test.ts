import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openApiDocument } from '../../lib/openapi/document.ts';

it('is the document that the service serves; npm run generate writes it anew', () => {
  expect(readFileSync('docs/openapi.json', 'utf8')).toBe(`${JSON.stringify(openApiDocument(), null, 2)}\n`);
});
