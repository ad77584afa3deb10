import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { everyItem } from '../../../client/client.ts';
import type { Execution } from '../../../client/operations.ts';
import { Failure } from '../../components/failure.tsx';
import { Skeleton } from '../../components/page.tsx';
import { useClient } from '../../session.ts';
import { type ExecutionStep, StepText } from './step-text.tsx';

type Message = NonNullable<ExecutionStep['messages']>[number];
type Messages = ReadonlyMap<number, readonly Message[] | undefined>;

type StepMessagesProps = { execution: Execution; step: ExecutionStep };

/** What the model of a step received. It is read when a person opens it: it has all texts of the execution. */
export function StepMessages({ execution, step }: StepMessagesProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="step-messages" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="muted">What the model received</summary>
      {isOpen && <Received execution={execution} step={step} />}
    </details>
  );
}

function Received({ execution, step }: StepMessagesProps) {
  const { data, error, refetch } = useMessages(execution);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton rows={2} />;
  const messages = data.get(step.number);
  if (!messages) return <p className="muted">{absentText(execution, step)}</p>;
  // The gate of the reviewer has the prompt of that agent.
  const agent = step.kind === 'gate' ? 'qa-reviewer' : execution.agentName;
  return (
    <ol>
      {messages.map((message, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages have no other key, and their order never changes
        <li key={at}>
          <ReceivedMessage message={message} agent={agent} />
        </li>
      ))}
    </ol>
  );
}

/** Reads what the models of an execution received, again whenever a step of it has started or ended. */
function useMessages({ agentName: name, id, status, stepCount, currentStep }: Execution) {
  const client = useClient();
  return useQuery({
    queryKey: ['executions', 'messages', name, id, status, stepCount, currentStep?.number],
    queryFn: async ({ signal }): Promise<Messages> => {
      const request = { params: { name, id }, query: { include: ['messages' as const] }, signal };
      const messagesOf = new Map<number, readonly Message[] | undefined>();
      for await (const { number, messages } of everyItem(client.listSteps, request)) messagesOf.set(number, messages);
      return messagesOf;
    },
  });
}

/** Returns why it is not known what a call received. */
function absentText({ status }: Execution, { kind }: ExecutionStep): string {
  if (status === 'running') return 'It is stored when the call has ended.';
  if (kind === 'gate' && status === 'failed') return 'The run failed, so the output that the gate received is deleted.';
  return 'It is not stored: the call was stopped before, or an earlier version of the service made it.';
}

function ReceivedMessage({ message: { role, promptHash, parts, step }, agent }: { message: Message; agent: string }) {
  if (role === 'assistant') return <p className="muted">Its own answer of step {step}</p>;
  if (role === 'tool') return <p className="muted">The result of step {step}</p>;
  const title = role === 'system' ? 'System prompt' : 'Message';
  return (
    <>
      {promptHash !== undefined && (
        <p>
          System prompt of {agent}:{' '}
          <Link
            className="mono"
            to="/agents/$name"
            params={{ name: agent }}
            search={{ tab: 'versions' }}
            title={promptHash}
          >
            {promptHash.slice(0, 'sha256:'.length + 8)}…
          </Link>
        </p>
      )}
      {parts?.map(({ text, length }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other key, and their order never changes
        <StepText key={at} title={titleOf(title, at, parts.length, length)} text={text} />
      ))}
    </>
  );
}

/** Returns the title of a part of a message. A part with a length is only the start of the text. */
function titleOf(title: string, at: number, count: number, length: number | undefined): string {
  const part = count > 1 ? `${title}, part ${at + 1} of ${count}` : title;
  return length === undefined ? part : `${part}: the start of ${length.toLocaleString('en')} characters`;
}
