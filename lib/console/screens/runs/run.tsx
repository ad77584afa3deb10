import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { everyItem } from '../../../client/client.ts';
import type { Execution } from '../../../client/operations.ts';
import { CopyAsCurl } from '../../components/copy-as-curl.tsx';
import { Failure } from '../../components/failure.tsx';
import { runSubject } from '../../components/format/run-subject.ts';
import { oneTask } from '../../components/hooks/one-task.ts';
import { Judgements } from '../../components/judgements.tsx';
import { FormattedText } from '../../components/markdown/formatted-text.tsx';
import { PageHead, RunStatus, Skeleton } from '../../components/page.tsx';
import { TextBlock } from '../../components/text-block.tsx';
import { useClient, useScope } from '../../session.ts';
import { RunActions } from './run-actions.tsx';
import { RunFacts } from './run-facts.tsx';
import type { ExecutionStep } from './step-text.tsx';
import { Waterfall } from './waterfall.tsx';

/** The interval between two reads of a running execution, in milliseconds. Its steps have no events to follow. */
const runningIntervalMs = 2_000;

/** An execution with its steps. */
export function Run() {
  const { agent, id } = useParams({ from: '/runs/$agent/$id' });
  const { data, error, refetch } = useRun(agent, id);
  const subject = useSubject(data?.execution);
  return (
    <>
      <PageHead
        title={subject ?? 'Run'}
        kind="Run"
        status={data && <RunStatus run={data.execution} />}
        path={<Link to="/runs">Runs</Link>}
      >
        {data && <RunActions execution={data.execution} />}
        <CopyAsCurl operation="getExecution" request={{ params: { name: agent, id } }} />
      </PageHead>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data ? <Details {...data} /> : !error && <Skeleton rows={12} />}
    </>
  );
}

/** Returns what an execution is about; `undefined` until that is read. */
function useSubject(execution: Execution | undefined): string | undefined {
  const client = useClient();
  const canReadTasks = useScope('tasks:read');
  const { taskId = '', input = '' } = execution ?? {};
  const { data, isLoading } = useQuery({ ...oneTask(client, taskId), enabled: taskId !== '' && canReadTasks });
  return isLoading ? undefined : runSubject({ taskTitle: data?.data.title, input });
}

function useRun(agent: string, id: string) {
  const client = useClient();
  const params = { name: agent, id };
  return useQuery({
    queryKey: ['executions', 'one', agent, id],
    queryFn: async ({ signal }) => {
      // The execution first: if it has ended, the steps that are read after it are complete.
      const execution = (await client.getExecution({ params, signal })).data;
      const steps: ExecutionStep[] = [];
      for await (const step of everyItem(client.listSteps, { params, signal })) steps.push(step);
      return { execution, steps };
    },
    refetchInterval: ({ state }) => (state.data?.execution.status === 'running' ? runningIntervalMs : false),
  });
}

function Details({ execution, steps }: { execution: Execution; steps: readonly ExecutionStep[] }) {
  const { input, context, output, error, errorReason = error, waitingForModel } = execution;
  return (
    <div className="run">
      {errorReason !== undefined && (
        <p className={error === 'cancelled' ? 'run-note' : 'failure'} role="alert">
          {errorReason}
        </p>
      )}
      {waitingForModel && (
        <p className="muted" role="status">
          Waiting for the model, which is overloaded or has too many requests.
        </p>
      )}
      <RunFacts execution={execution} />
      <section aria-labelledby="run-steps">
        <h2 id="run-steps">Steps</h2>
        <Waterfall execution={execution} steps={steps} />
      </section>
      {output !== undefined && <FormattedText title="Output" text={output} />}
      <section aria-labelledby="run-gates">
        <h2 id="run-gates">Quality gates</h2>
        <Judgements {...execution} />
      </section>
      <FormattedText title="Input" text={input} />
      {context && <TextBlock title="Context" text={JSON.stringify(context, null, 2)} />}
    </div>
  );
}
