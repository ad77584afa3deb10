import { useNotices } from '../notices.tsx';

/** Returns a function that copies a text to the clipboard, and says that it did, or why it could not. */
export function useCopy(): (text: string, done: string) => Promise<void> {
  const { say, fail } = useNotices();
  return async (text, done) => {
    try {
      // Pages without TLS have no clipboard, except on this machine.
      await navigator.clipboard.writeText(text);
      say(done);
    } catch (error) {
      fail(error);
    }
  };
}
