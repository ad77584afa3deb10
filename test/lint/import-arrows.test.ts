import { beforeAll, expect, it } from 'vitest';
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
  'lib/client': ['../contract/events.ts', './verify-webhook.ts', 'undici', 'node:http'],
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
};

/** Imports along the arrows, by folder or file. */
const allowed = {
  'lib/contract': ['./shapes.ts'],
  'lib/deployment': ['../contract/ids.ts'],
  'lib/openapi': ['../contract/ids.ts'],
  'lib/client': ['node:crypto'],
  'docs/examples': ['../../lib/client/client.ts', 'express'],
  'lib/table': ['../contract/ids.ts', '../request-context.ts', '../aws/client-config.ts'],
  'lib/table/tasks': ['../keys.ts', '../lists/listing.ts', '../../contract/ids.ts'],
  'lib/model': ['../deployment/environment.ts'],
  'lib/limits': ['../table/client.ts', '../request-context.ts'],
  'lib/reconcile': ['../table/client.ts'],
  'lib/tasks': ['../table/tasks.ts'],
  'lib/agents': ['../table/agents.ts'],
  'lib/executions': ['../model/converse.ts', '../agents/system-agents.ts'],
  'lib/improvements': ['../executions/ask-model.ts'],
  'lib/webhooks': ['../sqs/queue.ts', '../request-context.ts'],
  'lib/webhooks/sender': ['../secrets.ts', '../../deployment/environment.ts'],
  'lib/http/middleware': ['../serve.ts', '../../table/idempotency.ts'],
  'lib/queue': ['../table/keys.ts'],
  'functions/open': ['../../lib/http/serve.ts'],
  'infra/aws': [
    '../../lib/deployment/consumers.ts',
    '../../lib/agents/skill-catalogue.ts',
    '../../lib/http/nearest-name.ts',
  ],
  'infra/aws/api': ['../../../lib/deployment/consumers.ts'],
  'infra/aws/app.ts': ['../cli/stack/deployed-data.ts'],
  'infra/cli': ['../local/running.ts'],
  'infra/cli/commands': ['../../aws/settings.ts'],
};

/** Returns a separate file for each import: its path and the imported module. */
const filesOf = (imports: Record<string, string[]>, name: string) =>
  Object.entries(imports).flatMap(([place, sources]) =>
    sources.map((source, nth) => [place.endsWith('.ts') ? place : `${place}/${name}-${nth}.ts`, source] as const),
  );
const wrong = filesOf(forbidden, 'wrong');
const right = filesOf(allowed, 'right');
let offending: Set<string>;

beforeAll(() => {
  const files = [...wrong, ...right].map(([file, source]) => [file, importing(source)] as const);
  offending = filesThatFail('style/noRestrictedImports', files);
});

it.each(wrong)('the linter reports in %s an import of %s', (file) => {
  expect(offending).toContain(file);
});

it.each(right)('the linter accepts in %s an import of %s', (file) => {
  expect(offending).not.toContain(file);
});
