import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { PromptListItem, PromptSource } from '../../../client/operations.ts';
import { ConfirmAction } from '../../components/dialogs/confirm.tsx';
import { Failure } from '../../components/failure.tsx';
import { useNotices } from '../../components/notices.tsx';
import { Skeleton } from '../../components/page.tsx';
import { Ago } from '../../components/time.tsx';
import { useClient, useScope } from '../../session.ts';
import { storeAgent, usePrompt, useVersions, type VersionedAgent, versionedAgentOf } from './agent-queries.ts';
import { LoadMore } from './load-more.tsx';
import { WordDiff } from './word-diff.tsx';

const sources: Readonly<Record<PromptSource, string>> = {
  create: 'Created',
  update: 'Edited',
  'self-improve': 'Self-improvement',
  restore: 'Restored',
};

/** The versions of an agent's prompt, and what changed from one of them to the current prompt. */
export function VersionsTab({ current }: { current: VersionedAgent }) {
  const { name } = current.agent;
  const versions = useVersions(name);
  const [chosen, setChosen] = useState<string>();
  if (versions.isPending) return <Skeleton />;
  if (versions.isError) return <Failure error={versions.error} retry={() => void versions.refetch()} />;
  const { items, total } = versions.data;
  const [latest] = items;
  const shown = items.find((one) => keyOf(one) === chosen) ?? items[1] ?? latest;
  return (
    <div className="versions">
      <div>
        <ol className="panel version-list" aria-label="Versions">
          {items.map((one) => (
            <li key={keyOf(one)}>
              <button type="button" aria-pressed={one === shown} onClick={() => setChosen(keyOf(one))}>
                <span className="version-head">
                  <strong>{titleOf(one)}</strong>
                  {one === latest && <span className="label">current</span>}
                </span>
                <span className="muted">
                  {one.source ? sources[one.source] : 'Unknown origin'}
                  {one.createdAt && (
                    <>
                      {' '}
                      <Ago at={one.createdAt} />
                    </>
                  )}
                </span>
                {one.changesSummary && <span className="muted version-summary">{one.changesSummary}</span>}
              </button>
            </li>
          ))}
        </ol>
        <LoadMore query={versions} shown={items.length} total={total} noun="version" />
      </div>
      {shown && (
        <Comparison key={keyOf(shown)} version={shown} current={current} isCurrent={shown.hash === latest?.hash} />
      )}
    </div>
  );
}

/** A prompt that the agent got twice has two versions with one hash. */
function keyOf({ version = 0, hash }: PromptListItem): string {
  return `${version} ${hash}`;
}

function titleOf({ version, hash }: PromptListItem): string {
  return version === undefined ? `Prompt ${hash.slice('sha256:'.length, 15)}` : `Version ${version}`;
}

type ComparisonProps = { version: PromptListItem; current: VersionedAgent; isCurrent: boolean };

function Comparison({ version, current, isCurrent }: ComparisonProps) {
  const text = usePrompt(current.agent.name, version.hash);
  const canWrite = useScope('agents:write');
  const title = titleOf(version);
  return (
    <section className="panel comparison" aria-label="Comparison">
      <div className="comparison-head">
        <h2>{isCurrent ? title : `From ${title.toLowerCase()} to the current prompt`}</h2>
        {canWrite && !isCurrent && <Restore version={version} current={current} />}
      </div>
      {text.isPending ? (
        <Skeleton rows={4} />
      ) : text.isError ? (
        <Failure error={text.error} retry={() => void text.refetch()} />
      ) : isCurrent ? (
        <pre className="diff">{text.data === '' ? 'Empty' : text.data}</pre>
      ) : (
        <WordDiff from={text.data} to={current.agent.systemPrompt} />
      )}
    </section>
  );
}

function Restore({ version, current: { agent, etag } }: Omit<ComparisonProps, 'isCurrent'>) {
  const client = useClient();
  const queries = useQueryClient();
  const { say } = useNotices();
  const title = titleOf(version);
  return (
    <ConfirmAction
      button="Restore"
      title={`Restore ${title.toLowerCase()}?`}
      label="Restore"
      act={async () => {
        const params = { name: agent.name, hash: version.hash };
        await storeAgent(queries, versionedAgentOf(await client.restorePrompt({ params, ifMatch: etag })));
        say(`${title} is the current prompt again.`);
      }}
    >
      <p>Its text becomes the current system prompt, as a new version. Other fields of the agent stay as they are.</p>
    </ConfirmAction>
  );
}
