/** The entry of the console. */
import '@mantine/core/styles.css';
import '@mantine/spotlight/styles.css';
import './styles.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { useLayoutEffect, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { connection, watchRequests } from './data/connection.ts';
import { queryClient, SignedInContext } from './data/queries.ts';
import { styleNonce } from './environment.ts';
import { Notifications } from './parts/notifications.tsx';
import { installNavigationKeys } from './parts/shortcuts.ts';
import { session, start } from './session/session.ts';
import { screens } from './shell/screens.ts';
import { Shell, Starting } from './shell/shell.tsx';
import { HandedOver, SignIn, SignInAgain, WaitForApproval } from './shell/sign-in.tsx';
import { theme } from './theme.ts';

// The scroll lock of dialogs reads the nonce from this variable.
Object.assign(globalThis, { __webpack_nonce__: styleNonce() });

function Console() {
  useLayoutEffect(() => document.getElementById('first-paint')?.remove(), []);
  const state = useSyncExternalStore(session.subscribe, session.get);
  switch (state.kind) {
    case 'starting':
      return <Starting />;
    case 'signedOut':
    case 'locked':
      return <SignIn message={state.message} isLocked={state.kind === 'locked'} />;
    case 'handedOver':
      return <HandedOver />;
    case 'waiting':
      return <WaitForApproval person={state.person} />;
    case 'signedIn':
      return (
        <SignedInContext value={state}>
          <Shell key={state.person.id} />
          {state.expired === null ? null : <SignInAgain message={state.expired} />}
        </SignedInContext>
      );
  }
}

const root = document.getElementById('root');
if (root !== null) {
  session.onEnd(() => queryClient.clear());
  installNavigationKeys(screens);
  watchRequests();
  connection.onReturn(() => void queryClient.invalidateQueries());
  createRoot(root).render(
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <Notifications />
      <QueryClientProvider client={queryClient}>
        <Router base="/console">
          <Console />
        </Router>
      </QueryClientProvider>
    </MantineProvider>,
  );
  void start();
}
