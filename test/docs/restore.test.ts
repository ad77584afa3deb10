import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { createTemporaryFolder } from '../temporary-files.ts';

/**
 * A stub of the AWS CLI whose table behaves like DynamoDB, unlike the table of the emulator: a restore takes long, a change
 * during another one is rejected, and backups are rejected for a while. `$STATE/busy` is the number of responses in which
 * the table is not ACTIVE yet. `$STATE/changes` has the accepted changes.
 */
const cli = `#!/bin/sh
busy=$(cat $STATE/busy); given="$*"
change() {
  if [ $busy -gt 0 ]; then echo "ResourceInUseException: $given" >&2; exit 254; fi
  echo "$given" >> $STATE/changes; echo 3 > $STATE/busy
}
case "$given" in
  "cloudformation describe-stacks"*) echo own ;;
  "dynamodb restore-table-to-point-in-time"*) echo "$given" >> $STATE/changes; echo $RESTORE > $STATE/busy ;;
  *"--query Table.TableStatus"*)
    if [ $busy -gt 0 ]; then echo $((busy - 1)) > $STATE/busy; echo CREATING; else echo ACTIVE; fi ;;
  *"--query Table.TableArn"*) echo "arn:$4" ;;
  "dynamodb update-continuous-backups"*)
    tries=$(cat $STATE/tries); echo $((tries + 1)) > $STATE/tries
    if [ $tries -lt 2 ]; then echo ContinuousBackupsUnavailableException >&2; exit 254; fi
    change ;;
  "dynamodb list-tags-of-resource"*) echo "$TAGS_OF_OWN" ;;
  "dynamodb update-"* | "dynamodb tag-resource"*) change ;;
esac
`;

const folder = createTemporaryFolder();

/** Returns the commands of the section, up to a line. */
function commandsUpTo(end: string): string {
  const page = readFileSync('docs/deploying.md', 'utf8');
  const [, section = ''] = page.split('\n## Restore\n');
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];
  expect(block).toContain(end);
  return block.slice(0, block.indexOf(end));
}

/** Runs the first two steps of the page. The restore ends after the status was requested `asked` times. */
function restore(name: string, { asked, tags }: { asked: number; tags: string }): string[] {
  const state = join(folder, name);
  mkdirSync(state);
  for (const [file, text] of Object.entries({ busy: '0', tries: '0', changes: '' }))
    writeFileSync(join(state, file), text);
  writeFileSync(join(state, 'aws'), cli, { mode: 0o755 });
  execFileSync('bash', ['-euc', `sleep() { :; }\n${commandsUpTo('# 3. ')}`], {
    cwd: state,
    env: {
      PATH: [state, process.env.PATH].join(delimiter),
      TMPDIR: state,
      STATE: state,
      RESTORE: String(asked),
      TAGS_OF_OWN: tags,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return readFileSync(join(state, 'changes'), 'utf8').trimEnd().split('\n');
}

it('the commands wait for a restore that takes longer than the CLI waits, and for each change', () => {
  // One request in ten seconds: longer than `aws dynamodb wait table-exists`, which waits for 8 minutes 20 s.
  const changes = restore('long', { asked: 60, tags: '[{"Key":"team","Value":"board"}]' });
  expect(changes.map((change) => change.replace('dynamodb ', '').replaceAll(/--table-name \S+ ?/g, ''))).toEqual([
    expect.stringMatching(
      /^restore-table-to-point-in-time --source-table-name own --target-table-name crewboard-restored /,
    ),
    'update-table --deletion-protection-enabled',
    'update-table --stream-specification StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES',
    'update-time-to-live --time-to-live-specification Enabled=true,AttributeName=expiresAt',
    'update-continuous-backups --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true',
    expect.stringMatching(/^tag-resource --resource-arn arn:crewboard-restored --tags file:\/\/\S+$/),
  ]);
});

it('a table without tags gets none', () => {
  expect(restore('untagged', { asked: 0, tags: '[]' }).filter((change) => change.includes('tag-resource'))).toEqual([]);
});
