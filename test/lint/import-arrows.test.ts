import { expect, it } from 'vitest';
import { filesThatFail, importing } from './lint.ts';

/** Imports against the arrows (docs/architecture.md#code), by folder. */
const forbidden = {
  'lib/contract': [
    '../table/keys.ts',
    'node:fs',
    '@aws-sdk/client-dynamodb',
    '../deployment/queues.ts',
    '../openapi/document.ts',
  ],
  'lib/deployment': ['../table/keys.ts', '@aws-sdk/client-sqs'],
  'lib/aws': ['../contract/ids.ts'],
  'lib/openapi': ['../http/serve.ts'],
  'lib/client': ['../contract/events.ts', 'undici', 'node:crypto'],
  'docs/examples': ['../../lib/contract/events.ts', '../../infra/local/main.ts', './b.ts'],
  'lib/table': ['../tasks/tasks.ts', '../http/serve.ts', '../reconcile/differences.ts'],
  'lib/table/tasks': ['../../tasks/tasks.ts', '../../http/serve.ts'],
  'lib/model': ['../table/keys.ts', '../agents/agents.ts'],
  'lib/limits': ['../http/serve.ts'],
  'lib/reconcile': ['../tasks/tasks.ts'],
  'lib/tasks': ['../http/serve.ts', '@aws-sdk/lib-dynamodb', '../model/converse.ts'],
  'lib/webhooks': ['../queue/consume.ts', '../tasks/tasks.ts', '../model/converse.ts'],
  'lib/webhooks/sender': ['../../queue/consume.ts', '@aws-sdk/client-sqs'],
  'lib/agents': ['aws-lambda', '../executions/executions.ts', '../tasks/tasks.ts', '../model/converse.ts'],
  'lib/executions': ['@aws-sdk/client-bedrock-runtime', '../improvements/improvements.ts', '../tasks/tasks.ts'],
  'lib/improvements': ['../model/bedrock.ts', '../tasks/tasks.ts'],
  'lib/sqs': ['../table/keys.ts'],
  'lib/context.ts': ['./http/serve.ts'],
  'lib/http': ['../queue/consume.ts', '../../infra/local/main.ts'],
  'lib/http/middleware': ['../../queue/consume.ts', '../../../infra/local/main.ts'],
  'lib/queue': ['../http/serve.ts'],
  'functions/open': ['./health.ts', '../webhooks/get-webhook.ts', '../../infra/local/main.ts'],
  'infra/aws': ['../../lib/table/keys.ts', '../local/main.ts'],
  'infra/aws/api': ['../../../lib/table/keys.ts', '../../local/main.ts'],
  'infra/local': ['../aws/app.ts', '../cli/program.ts'],
  'infra/local/queues': ['../../aws/app.ts', '../../cli/program.ts'],
  'infra/cli': ['../aws/app.ts'],
  'infra/cli/commands': ['../../aws/app.ts', '../../../functions/open/health.ts'],
  'infra/cli/api': [
    '@aws-sdk/client-sqs',
    '../../local/problem.ts',
    '../../../lib/table/client.ts',
    '../commands/token.ts',
    '../deployments.ts',
  ],
};

it('the linter reports every import against the arrows', () => {
  const files = Object.entries(forbidden).flatMap(([place, sources]) =>
    sources.map((source, nth) => [place.endsWith('.ts') ? place : `${place}/${nth}.ts`, source] as const),
  );
  const imports = files.map(([file, source]) => [file, importing(source)] as const);
  const offending = filesThatFail('style/noRestrictedImports', imports);
  // That it accepts the imports along the arrows is proved by `biome check` on the repository.
  expect(files.filter(([file]) => !offending.has(file))).toEqual([]);
});
