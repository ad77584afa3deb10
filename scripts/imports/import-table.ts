/**
 * What the files of each folder may import beside the files of that folder: folders and files of the project, packages,
 * and modules of Node.js. The row of a file is the row with the longest name that is the file or a folder above it. A `*` at
 * the end of an entry stands for the rest of a name.
 *
 * A row whose name ends in `/*` is one for each file below that folder: these files do not import each other. `(computed)`
 * stands for paths that are known only when the code runs.
 *
 * Each entry is needed: `npm run check` names an import without an entry, and an entry without an import.
 */
export const importTable: Readonly<Record<string, string>> = {
  // Without I/O, and without Node.js where browsers run it.
  'lib/contract': 'valibot leven',
  'lib/names': 'lib/contract valibot',
  'lib/settings': 'lib/contract lib/names',
  'lib/openapi': 'lib/contract valibot @valibot/to-json-schema',
  'lib/client': '',
  'lib/console': 'lib/client react react-dom @base-ui/react @tanstack/* @atlaskit/* marked diff uplot',

  // What talks to AWS, to receivers and to models.
  'lib/aws': 'lib/contract/bounded-map.ts lib/names node:* @aws-sdk/client-kms @aws-sdk/client-sqs',
  'lib/sender': 'lib/contract lib/settings node:* ipaddr.js',
  'lib/model':
    'lib/aws lib/contract lib/names node:* valibot @aws-sdk/client-bedrock-runtime @smithy/node-http-handler',
  'lib/table': 'lib/aws lib/contract lib/names lib/settings node:* @aws-sdk/*',

  // The behaviour, by noun.
  'lib/context':
    'lib/aws lib/contract lib/names lib/sender lib/settings lib/table node:* @aws-lambda-powertools/logger',
  'lib/agents': 'lib/context lib/contract lib/table node:* js-yaml valibot',
  'lib/tasks': 'lib/aws lib/context lib/contract lib/names lib/table node:*',
  'lib/webhooks': 'lib/aws lib/context lib/contract lib/names lib/sender lib/settings lib/table node:*',
  'lib/executions': 'lib/agents lib/aws lib/context lib/contract lib/model lib/names lib/table lib/tasks node:*',
  'lib/improvements': 'lib/agents lib/context lib/contract lib/executions lib/table valibot',
  'lib/tools': 'lib/agents lib/context lib/contract lib/executions lib/model lib/openapi lib/table lib/tasks valibot',

  // How requests and messages reach it.
  'lib/http':
    'lib/agents lib/context lib/contract lib/names lib/openapi lib/settings lib/table node:* @middy/core aws-lambda esbuild',
  'lib/mcp': 'lib/context lib/contract lib/http lib/tools @middy/core @modelcontextprotocol/server aws-lambda',
  'lib/workers':
    'lib/aws lib/context lib/contract lib/model lib/names lib/table node:* valibot @aws-lambda-powertools/* @aws-sdk/* aws-lambda',
  'functions/*':
    'lib/agents lib/aws/all-ended.ts lib/contract lib/executions lib/http lib/improvements lib/model lib/names lib/table lib/tasks lib/tools lib/webhooks lib/workers',
  'functions/mcp/*': 'functions lib/contract lib/mcp',
  'functions/open/health.ts': 'lib/context lib/contract lib/http lib/names',

  // What runs, deploys and operates it.
  'infra/texts.ts': 'lib/client',
  'infra/problem.ts': '',
  'infra/terminal':
    'infra/local infra/problem.ts infra/texts.ts lib/context/log.ts lib/contract lib/executions lib/webhooks node:*',
  'infra/local':
    'functions infra/problem.ts lib/aws lib/client lib/context lib/contract lib/executions lib/http lib/model lib/names lib/settings lib/table node:* @aws-sdk/* aws-lambda valibot',
  'infra/main.ts': 'infra lib/http lib/context/log.ts esbuild',
  'infra/aws':
    'lib/agents/skill-catalogue.ts lib/contract lib/http/console/console-files.ts lib/http/docs/guides.ts lib/names lib/settings lib/tools/tool-list.ts node:* aws-cdk-lib cdk-nag constructs esbuild valibot',
  'infra/aws/deployed':
    'infra/aws/settings.ts infra/problem.ts lib/context lib/contract/texts/order.ts lib/names node:* @aws-sdk/*',
  'infra/cli':
    'infra/aws/deployed infra/aws/settings.ts infra/local infra/problem.ts infra/terminal lib/agents lib/aws lib/client lib/context lib/contract lib/executions/run/generate-output.ts lib/http lib/model lib/names lib/sender lib/settings lib/table lib/webhooks node:* @aws-sdk/* @commander-js/extra-typings @smithy/node-http-handler commander ora string-width valibot',
  // Bundled for the package: without what needs a deployment.
  'infra/cli/api':
    'infra/cli/columns.ts infra/cli/command.ts infra/cli/json.ts infra/cli/listen infra/cli/printable.ts infra/cli/run-program.ts infra/texts.ts lib/client lib/contract package.json node:* @commander-js/extra-typings ora',
  // What reads the bundles and the templates of the stack.
  'scripts/function-variables.ts': 'infra/aws/bundle.ts lib/context/context.ts lib/names lib/settings node:* esbuild',
  'scripts/stack-sizes.ts': 'infra/aws/settings.ts infra/cli/columns.ts scripts node:*',
  scripts: 'lib/client lib/contract lib/openapi package.json valibot node:* esbuild oxc-parser (computed)',
  'docs/examples/*': 'lib/client node:* @aws-sdk/* aws-lambda express hono @hono/node-server',
};
