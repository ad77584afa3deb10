import { useKeptDialog } from '../components/dialogs/kept-dialog.tsx';
import { useNotices } from '../components/notices.tsx';

/** Returns a function that opens the list of keys. The list is loaded when it is opened. */
export function useKeysDialog(): () => void {
  const show = useKeptDialog();
  const { fail } = useNotices();
  return () =>
    void import('./keys-dialog.tsx').then(({ KeysDialog }) => show(<KeysDialog onClose={() => show()} />), fail);
}
