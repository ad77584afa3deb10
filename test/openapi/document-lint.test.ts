import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, it } from 'vitest';
import { document, type Json } from './published.ts';

const strictly = { severity: 'error', allowAdditionalProperties: false } as const;

const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    // Every example must match its schema and have no unknown fields.
    'no-invalid-media-type-examples': strictly,
    'no-invalid-parameter-examples': strictly,
    'no-invalid-schema-examples': strictly,
    // The service and API Gateway both prefer a fixed segment, and no id of a webhook is `events`.
    'no-ambiguous-paths': 'off',
    // `components` lists all error codes; 405 belongs to no operation.
    'no-unused-components': 'off',
    'operation-description': 'error',
    'parameter-description': 'error',
    'tag-description': 'error',
  },
});

/** Returns the problems that Redocly's linter finds, as `rule at place`. */
async function problemsOf(of: Json): Promise<string[]> {
  const problems = await lintFromString({ source: JSON.stringify(of), config });
  return problems.map(({ ruleId, location: [place] }) => `${ruleId} at ${place?.pointer}`);
}

it('the linter of OpenAPI documents finds no problem', async () => {
  expect(await problemsOf(document)).toEqual([]);
});

it('the linter finds a missing description and an unknown field in an example', async () => {
  const broken = structuredClone(document);
  const create = broken.paths?.['/api/agents']?.post as Json;
  delete create.description;
  Object.assign(create.requestBody?.content?.['application/json']?.example as Json, { owner: 'me' });
  const at = '#/paths/~1api~1agents/post';
  expect((await problemsOf(broken)).sort()).toEqual([
    `no-invalid-media-type-examples at ${at}/requestBody/content/application~1json/example/owner`,
    `operation-description at ${at}/description`,
  ]);
});
