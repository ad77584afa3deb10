import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

/** `npm run synth` synthesizes the stack of each settings file and checks it with cdk-nag. It needs no AWS account. */
for (const file of readdirSync('settings').filter((name) => name.endsWith('.json'))) {
  const context = `stage=${file.replace('.json', '')}`;
  const { status } = spawnSync('cdk', ['synth', '--quiet', '-c', context], { stdio: 'inherit' });
  if (status !== 0) {
    console.error(`The stack of settings/${file} cannot be synthesized.`);
    process.exit(status ?? 1);
  }
}
