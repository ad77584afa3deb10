import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { document, type Json } from './published.ts';

const strictly = { severity: 'error', allowAdditionalProperties: false } as const;

const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    // Every example must match its schema and have no unknown fields.
    'no-invalid-media-type-examples': strictly,
    'no-invalid-parameter-examples': strictly,
    'no-invalid-schema-examples': strictly,
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

const create = '#/paths/~1api~1kanban-tasks/post';
const operation = (of: Json) => (of.paths as Json)['/api/kanban-tasks']?.post as Json;

describe('the linter of OpenAPI documents', () => {
  it('finds no problem', async () => {
    expect(await problemsOf(document)).toEqual([]);
  });

  it.each<[string, (of: Json) => void, string]>([
    [
      'an operation without a description',
      (of) => delete operation(of).description,
      `operation-description at ${create}`,
    ],
    [
      'an example of a body with an unknown field',
      (of) => Object.assign(operation(of).requestBody?.content?.['application/json']?.example as Json, { owner: 'me' }),
      `no-invalid-media-type-examples at ${create}/requestBody/content/application~1json/example/owner`,
    ],
    [
      'an example of an event with an invalid value',
      (of) =>
        Object.assign(
          of.webhooks?.['task.created']?.post?.requestBody?.content?.['application/json']?.example?.data?.task as Json,
          { status: 'doing' },
        ),
      'no-invalid-media-type-examples at #/webhooks/task.created/post/requestBody/content/application~1json/example/data/task/status',
    ],
    ['a broken reference', (of) => delete of.components?.schemas?.TaskCreated, 'no-unresolved-refs'],
  ])('finds %s', async (_, change, found) => {
    const broken = structuredClone(document);
    change(broken);
    expect((await problemsOf(broken)).join('\n')).toContain(found);
  });
});
