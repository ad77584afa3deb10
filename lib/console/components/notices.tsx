import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { screenOf } from '../navigation.ts';
import { messageOf } from './format/message-of.ts';

type Notice = { id: number; text: string; isError: boolean };

type Notices = {
  add: (text: string, isError: boolean) => void;
  /** Closes the errors of the screen that the user has left. */
  leave: () => void;
};

const NoticeContext = createContext<Notices>({ add: () => {}, leave: () => {} });

/** How long a notice is shown, in milliseconds. Errors stay until they are closed, or their screen is left. */
const shownMs = 5_000;

/** Shows short notices about what the user did, and reads them to screen readers. */
export function Notices({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const close = useCallback((id: number) => setNotices((all) => all.filter((one) => one.id !== id)), []);
  const context = useMemo<Notices>(
    () => ({
      add: (text, isError) => {
        const id = Date.now() + Math.random();
        // The same error again is one notice.
        setNotices((all) => [...all.filter((one) => !isError || one.text !== text).slice(-2), { id, text, isError }]);
        if (!isError) setTimeout(() => close(id), shownMs);
      },
      leave: () => setNotices((all) => all.filter(({ isError }) => !isError)),
    }),
    [close],
  );
  return (
    <NoticeContext value={context}>
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

/** Returns the path of the screen, which is in the fragment of the URL. */
function pathNow(): string {
  return location.hash.slice(1).split('?', 1)[0] || '/';
}

/**
 * Returns functions that show a notice, and the message of an error. Errors belong to the screen of the calling component: they go
 * with it, and one that comes later names it.
 */
export function useNotices(): { say: (text: string) => void; fail: (error: unknown) => void } {
  const { add } = useContext(NoticeContext);
  const path = useRef('');
  // Components stay mounted when the path changes, for example that of the task in the panel.
  useEffect(() => {
    path.current = pathNow();
  });
  return useMemo(
    () => ({
      say: (text) => add(text, false),
      fail: (error) => {
        const isLeft = path.current !== pathNow();
        add(isLeft ? `${screenOf(path.current).label}: ${messageOf(error)}` : messageOf(error), true);
      },
    }),
    [add],
  );
}

/** Closes the errors of a screen when another one is opened. */
export function useNoticesOf(path: string): void {
  const { leave } = useContext(NoticeContext);
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    leave();
  }, [path, leave]);
}
