import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Agent } from '../../../client/operations.ts';
import { ActionMenu } from '../../components/action-menu.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm.tsx';
import { useNotices } from '../../components/notices.tsx';
import { useClient, useScope } from '../../session.ts';

/** The actions on an agent that the token allows. Running and editing it are parts of its screen. */
export function AgentActions({ agent, onDeleted }: { agent: Agent; onDeleted: () => void }) {
  const { name, isSystem, status } = agent;
  const canWrite = useScope('agents:write');
  const canExecute = useScope('agents:execute');
  return (
    <>
      {canWrite && (
        <Link to="/agents/$name" params={{ name }} search={{ tab: 'prompt' }} className="button">
          Edit
        </Link>
      )}
      {canExecute && status === 'active' && (
        <Link to="/agents/$name" params={{ name }} search={{ tab: 'try' }} className="button primary">
          Run
        </Link>
      )}
      {canWrite && !isSystem && <DeleteMenu agent={agent} onDeleted={onDeleted} />}
    </>
  );
}

function DeleteMenu({ agent: { name, displayName }, onDeleted }: { agent: Agent; onDeleted: () => void }) {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { say } = useNotices();
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <ActionMenu label="More actions" actions={[{ label: 'Delete…', run: () => setAsked(true), isDestructive: true }]}>
        ⋯
      </ActionMenu>
      <ConfirmDialog
        open={isAsked}
        onClose={() => setAsked(false)}
        title={`Delete ${displayName}?`}
        label="Delete the agent"
        isDestructive
        act={async () => {
          await client.deleteAgent({ params: { name } });
          onDeleted();
          await navigate({ to: '/agents' });
          queries.removeQueries({ queryKey: ['agents', name] });
          void queries.invalidateQueries({ queryKey: ['agents'] });
          say(`The agent ${displayName} is deleted.`);
        }}
      >
        <p>
          This permanently deletes the agent, its versions and all its runs. Those that are running end without a
          result. Its tasks keep its name.
        </p>
      </ConfirmDialog>
    </>
  );
}
