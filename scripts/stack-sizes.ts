import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readStackSettings, stackNameOf } from '../infra/aws/settings.ts';
import { columns } from '../infra/cli/columns.ts';
import { sizeOf } from './bursts.ts';

/**
 * `npm run stack-sizes` prints the resources and the largest bursts of the template of each settings file, as `npm run synth`
 * has written it to `cdk.out`.
 */
const rows = readdirSync('settings')
  .filter((name) => name.endsWith('.json'))
  .map((file) => {
    const template = join('cdk.out', `${stackNameOf(readStackSettings(file.replace('.json', '')))}.template.json`);
    const { resources, ...bursts } = sizeOf(JSON.parse(readFileSync(template, 'utf8')).Resources);
    return [file, ...[resources, ...Object.values(bursts)].map(String)];
  });
const cases = ['created', 'deleted', 'functions change'];
const heads = ['API', 'all'].flatMap((what) => cases.map((when) => `${what}, ${when}`));
console.log(columns([['settings', 'resources', ...heads], ...rows]));
