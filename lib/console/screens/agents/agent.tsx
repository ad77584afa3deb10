import { Link, useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { CopyAsCurl } from '../../components/copy-as-curl.tsx';
import { Failure } from '../../components/failure.tsx';
import { useDraft } from '../../components/hooks/use-draft.ts';
import { PageHead, Skeleton } from '../../components/page.tsx';
import { useScope } from '../../session.ts';
import { AgentActions } from './agent-actions.tsx';
import { useAgent, type VersionedAgent } from './agent-queries.ts';
import { type Draft, type Editor, PromptTab } from './editor/prompt-tab.tsx';
import { ImprovementsTab } from './improvements/improvements-tab.tsx';
import { OverviewTab } from './overview-tab.tsx';
import { SkillsTab } from './skills-tab.tsx';
import { exampleInput, TryTab } from './try-tab.tsx';
import { VersionsTab } from './versions-tab.tsx';

type Tab = {
  label: string;
  show: (versioned: VersionedAgent, editor: Editor) => ReactNode;
  curl: (params: { name: string }) => ReactNode;
};

const tabs: Readonly<Record<string, Tab>> = {
  overview: {
    label: 'Overview',
    show: ({ agent }) => <OverviewTab agent={agent} />,
    curl: (params) => <CopyAsCurl operation="getMetrics" request={{ params }} />,
  },
  prompt: {
    label: 'Prompt',
    show: (versioned, editor) => <PromptTab current={versioned} {...editor} />,
    curl: (params) => <CopyAsCurl operation="getAgent" request={{ params }} />,
  },
  versions: {
    label: 'Versions',
    show: (versioned) => <VersionsTab current={versioned} />,
    curl: (params) => <CopyAsCurl operation="listPrompts" request={{ params }} />,
  },
  skills: {
    label: 'Skills',
    show: ({ agent: { name } }) => <SkillsTab name={name} />,
    curl: (params) => <CopyAsCurl operation="listSkills" request={{ params }} />,
  },
  try: {
    label: 'Try it',
    show: ({ agent }) => <TryTab agent={agent} />,
    curl: (params) => <CopyAsCurl operation="executeAgent" request={{ params, body: { input: exampleInput } }} />,
  },
  improvements: {
    label: 'Improvements',
    show: ({ agent: { name } }) => <ImprovementsTab name={name} />,
    curl: (params) => <CopyAsCurl operation="listImprovements" request={{ params }} />,
  },
};

/** An agent: one part of it at a time. */
export function Agent() {
  const { name } = useParams({ from: '/agents/$name' });
  // The key drops what was entered for another agent.
  return <AgentParts key={name} name={name} />;
}

function AgentParts({ name }: { name: string }) {
  const { tab: chosen = '' } = useSearch({ from: '/agents/$name' });
  const agent = useAgent(name);
  // Changes that are not saved stay while another part or another screen is shown.
  const [draft, setDraft] = useDraft<Draft>(`agent/${name}`);
  const tab = (Object.hasOwn(tabs, chosen) ? tabs[chosen] : tabs.overview) as Tab;
  return (
    <>
      <PageHead
        title={agent.data?.agent.displayName ?? name}
        kind="Agent"
        status={agent.data?.agent.status}
        path={<Link to="/agents">Agents</Link>}
      >
        {tab.curl({ name })}
        {agent.data && <AgentActions agent={agent.data.agent} onDeleted={() => setDraft(undefined)} />}
      </PageHead>
      <Tabs name={name} current={tab} />
      {agent.data ? (
        tab.show(agent.data, { draft, setDraft })
      ) : agent.isError ? (
        <Failure error={agent.error} retry={() => void agent.refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}

function Tabs({ name, current }: { name: string; current: Tab }) {
  const { period } = useSearch({ from: '/agents/$name' });
  const canExecute = useScope('agents:execute');
  const visible = Object.entries(tabs).filter(([id]) => id !== 'try' || canExecute);
  const bar = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a phone, the chosen part can be beside the visible ones
  useEffect(() => {
    bar.current?.querySelector('.current')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <nav ref={bar} className="tabs" aria-label="Parts of the agent">
      {visible.map(([id, tab]) => (
        <Link
          key={id}
          to="/agents/$name"
          params={{ name }}
          search={{ tab: id === 'overview' ? undefined : id, period }}
          // Without a tab in the URL, the overview is shown.
          className={tab === current ? 'tab current' : 'tab'}
          activeOptions={{ exact: true }}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}
