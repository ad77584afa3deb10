import { useEffect } from 'react';
import { isPressed } from './key-table.ts';

/**
 * Lets Ctrl+Enter submit the form that has the focus, or else that of the dialog in front. A form whose button is disabled is not
 * submitted.
 */
export function useSubmitKey(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      // A key that is held must not confirm the question that the first press has opened.
      if (event.defaultPrevented || event.repeat || !isPressed('submit', event)) return;
      const front = [...document.querySelectorAll('[role=dialog]')].at(-1);
      const form = (event.target as Element).closest('form') ?? front?.querySelector<HTMLFormElement>('.modal form');
      const button = form?.querySelector<HTMLButtonElement | HTMLInputElement>('[type=submit]');
      if (!form || !button) return;
      event.preventDefault();
      if (!button.disabled) form.requestSubmit(button);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
