import { Menu } from '@base-ui/react/menu';
import type { ReactNode } from 'react';

/** An action of a menu. */
export type Action = { label: string; run: () => void; isDestructive?: boolean };

/** A button that opens a menu of actions. Screens that are loaded later use it, because it is large. */
export function ActionMenu(props: { label: string; actions: readonly Action[]; children: ReactNode }) {
  return (
    <Menu.Root>
      <Menu.Trigger className="quiet" aria-label={props.label}>
        {props.children}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="menu-place" sideOffset={4}>
          <Menu.Popup className="menu">
            {props.actions.map(({ label, run, isDestructive }) => (
              <Menu.Item key={label} className={isDestructive ? 'menu-item destructive' : 'menu-item'} onClick={run}>
                {label}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
