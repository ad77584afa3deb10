import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { messageOf } from './message-of.ts';

type Notice = { id: number; text: string; isError: boolean };

const NoticeContext = createContext<(text: string, isError?: boolean) => void>(() => {});

/** How long a notice is shown, in milliseconds. Errors stay until they are closed. */
const shownMs = 5_000;

/** Shows short notices about what the user did, and reads them to screen readers. */
export function Notices({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const close = useCallback((id: number) => setNotices((all) => all.filter((one) => one.id !== id)), []);
  const add = useCallback(
    (text: string, isError = false) => {
      const id = Date.now() + Math.random();
      setNotices((all) => [...all.slice(-2), { id, text, isError }]);
      if (!isError) setTimeout(() => close(id), shownMs);
    },
    [close],
  );
  return (
    <NoticeContext value={add}>
      {children}
      <div className="notices" role="status" aria-live="polite">
        {notices.map(({ id, text, isError }) => (
          <p key={id} className={isError ? 'notice failing' : 'notice'}>
            {text}
            <button type="button" aria-label="Close" onClick={() => close(id)}>
              ×
            </button>
          </p>
        ))}
      </div>
    </NoticeContext>
  );
}

/** Returns functions that show a notice, and the message of an error. */
export function useNotices(): { say: (text: string) => void; fail: (error: unknown) => void } {
  const add = useContext(NoticeContext);
  return useMemo(() => ({ say: (text) => add(text), fail: (error) => add(messageOf(error), true) }), [add]);
}
