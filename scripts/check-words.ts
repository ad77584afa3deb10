import { globSync, readFileSync } from 'node:fs';
import { retiredWordsIn } from './retired-words.ts';

/** Names each retired word in code, tests and pages, and ends with 1 if there is one. */

/** Generated files, the list of the words itself, and texts that are stored data: prompts and skills. */
const excluded = [
  'docs/openapi.json',
  'lib/client/operations.ts',
  'lib/agents/system-agents.ts',
  '{scripts,test/scripts}/*retired-words*',
];

const folders = '{docs,functions,infra,lib,scripts,settings,test}/**/*.{css,json,md,py,sh,ts,tsx}';
const files = globSync(['*.{json,md}', folders], {
  exclude: [...excluded, 'package-lock.json', 'lib/agents/skills/**'],
});
const found = files.sort().flatMap((file) => retiredWordsIn(file, readFileSync(file, 'utf8')));
if (found.length > 0) {
  console.error(found.join('\n'));
  process.exit(1);
}
