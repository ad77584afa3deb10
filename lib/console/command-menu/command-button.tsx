import { type ComponentType, useEffect, useState } from 'react';
import { useNotices } from '../components/notices.tsx';

const keys = /^(Mac|iP)/.test(navigator.platform) ? '⌘K' : 'Ctrl K';

/** The button that opens the command menu, and its keys. The menu is loaded when it is opened. */
export function CommandButton() {
  const [Menu, setMenu] = useState<ComponentType<{ onClose: () => void }>>();
  const { fail } = useNotices();
  const open = () => import('./command-menu.tsx').then(({ CommandMenu }) => setMenu(() => CommandMenu), fail);
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
      {Menu && <Menu onClose={() => setMenu(undefined)} />}
    </>
  );
}
