import { createContext, type ReactNode, useContext, useState } from 'react';

const KeptDialogContext = createContext<(dialog: ReactNode) => void>(() => {});

/** The place of a dialog that stays when another screen is opened, because what it shows cannot be read again. */
export function KeptDialog({ children }: { children: ReactNode }) {
  const [dialog, setDialog] = useState<ReactNode>();
  return (
    <KeptDialogContext value={setDialog}>
      {children}
      {dialog}
    </KeptDialogContext>
  );
}

/** Returns a function that shows a dialog until the function is called again; without a dialog, it closes it. */
export function useKeptDialog(): (dialog?: ReactNode) => void {
  return useContext(KeptDialogContext);
}
