import { CSPProvider } from '@base-ui/react/csp-provider';
import { CatchBoundary } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { Failure } from './components/failure.tsx';
import { takeTokenLinks } from './sign-in/opened-token-link.ts';
import { applyTheme } from './theme.ts';

// First, so that the token of a link is not in the address bar for longer than necessary.
takeTokenLinks();
applyTheme();
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <CatchBoundary getResetKey={() => 0} errorComponent={Broken}>
      <CSPProvider disableStyleElements>
        <App />
      </CSPProvider>
    </CatchBoundary>
  </StrictMode>,
);

/** What is shown instead of the console if an error leaves nothing else of it. */
function Broken({ error }: { error: unknown }) {
  return (
    <main className="sign-in">
      <div className="panel">
        <h1>Crewboard</h1>
        <p>The console cannot be shown because of an error.</p>
        <Failure error={error} retry={() => location.reload()} />
      </div>
    </main>
  );
}
