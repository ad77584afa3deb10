import { type ReactNode, useEffect, useState } from 'react';
import { useNotices } from '../components/notices.tsx';

const keys = /^(Mac|iP)/.test(navigator.platform) ? '⌘K' : 'Ctrl K';

/**
 * The button that opens the command menu, and its keys. The menu is loaded when it is opened; what is typed until then is for the
 * menu.
 */
export function CommandButton() {
  const [menu, setMenu] = useState<ReactNode>();
  const { fail } = useNotices();
  const open = async () => {
    const takeTyped = collectTyped();
    try {
      const { CommandMenu } = await import('./command-menu.tsx');
      setMenu(<CommandMenu initialText={takeTyped()} onClose={() => setMenu(undefined)} />);
    } catch (error) {
      takeTyped();
      fail(error);
    }
  };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      if (!document.querySelector('[role=dialog], [role=menu]')) void open();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
  return (
    <>
      <button type="button" className="command-button" aria-keyshortcuts="Control+k Meta+k" onClick={() => void open()}>
        <svg aria-hidden="true" viewBox="0 0 16 16">
          <circle cx="7" cy="7" r="4.5" />
          <path d="m10.5 10.5 3.5 3.5" />
        </svg>
        <span>Search or run…</span>
        <kbd>{keys}</kbd>
      </button>
      {menu}
    </>
  );
}

/** Keeps the characters that are typed from the page, until the returned function takes them. */
function collectTyped(): () => string {
  let typed = '';
  const press = (event: KeyboardEvent) => {
    if (event.key.length > 1 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    typed += event.key;
  };
  addEventListener('keydown', press, { capture: true });
  return () => {
    removeEventListener('keydown', press, { capture: true });
    return typed;
  };
}
