import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useNotices } from '../components/notices.tsx';
import { ScreenIcon } from '../components/screen-icon.tsx';
import { isPressed, keyLabels } from '../keys/key-table.ts';
import { isMac } from '../keys/use-key.ts';

const [keys] = keyLabels('commandMenu', isMac);

/**
 * The button that opens the command menu, and its keys. The menu is loaded when it is opened; what is typed until its field has
 * the focus is for the field.
 */
export function CommandButton() {
  const [menu, setMenu] = useState<ReactNode>();
  const isOpen = useRef(false);
  const { fail } = useNotices();
  const open = async () => {
    // The keys again, while the menu is loaded.
    if (isOpen.current) return;
    isOpen.current = true;
    const takeTyped = collectTyped();
    const close = () => {
      takeTyped();
      setMenu(undefined);
      isOpen.current = false;
    };
    try {
      const { CommandMenu } = await import('./command-menu.tsx');
      setMenu(<CommandMenu takeTyped={takeTyped} onClose={close} />);
    } catch (error) {
      close();
      fail(error);
    }
  };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!isPressed('commandMenu', event)) return;
      event.preventDefault();
      if (!document.querySelector('[role=dialog]:not(.beside), [role=menu]')) void open();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
  return (
    <>
      <button type="button" className="command-button" aria-keyshortcuts="Control+k Meta+k" onClick={() => void open()}>
        <ScreenIcon name="search" />
        <span>Search or run…</span>
        <kbd>{keys}</kbd>
      </button>
      {menu}
    </>
  );
}

/** Keeps the characters that are typed from the page, until the returned function takes them. After that it returns none. */
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
    const taken = typed;
    typed = '';
    return taken;
  };
}
