import { useQueryClient } from '@tanstack/react-query';
import { oneTask } from '../../../../components/hooks/one-task.ts';
import { useClient } from '../../../../session.ts';

/** Returns the function that reads a task, its comments and its history again, and waits until they are shown. */
export function useDiscussionChanged(taskId: string): () => Promise<void> {
  const client = useClient();
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: oneTask(client, taskId).queryKey });
}
