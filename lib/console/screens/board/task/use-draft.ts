import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

/**
 * Returns what the user has typed into a field of a task, and the function that changes it. It is kept while another task is open:
 * a click on the board beside the panel loses nothing. It ends with the session.
 */
export function useDraft(field: 'review' | 'comment', taskId: string): [string, (text: string) => void] {
  const queries = useQueryClient();
  const key = ['drafts', field, taskId];
  const [text, setText] = useState(() => queries.getQueryData<string>(key) ?? '');
  return [
    text,
    (next) => {
      setText(next);
      queries.setQueryData(key, next);
    },
  ];
}
