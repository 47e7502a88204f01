import '@mantine/core/styles.css';
import '@mantine/spotlight/styles.css';
import './console.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
// Comes before the router, which rewrites the address.
import './service/arrival.js';
import { router } from './router.js';
import { NONCE } from './service/nonce.js';
import { forgetSession } from './service/session.js';
import { whenChangedInOtherTabs } from './service/other-tabs.js';
import { queries, readAgainUnasked, whenSignedOut } from './service/queries.js';
import { askOverPage, pageIsLeft, typedHere } from './service/typed.js';
import { colours, theme } from './theme.js';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no place for the application.');

// The library that locks scrolling under a dialog reads the nonce of its style from this global.
Object.assign(globalThis, { __webpack_nonce__: NONCE });

router.subscribe('onBeforeNavigate', ({ pathChanged }) => {
  if (pathChanged) pageIsLeft();
});

whenSignedOut(() => {
  const { href, pathname } = router.state.location;
  if (pathname === '/sign-in') return;
  if (typedHere()) {
    askOverPage(true);
    return;
  }
  forgetSession();
  void router.navigate({ to: '/sign-in', search: { to: href }, replace: true });
});

whenChangedInOtherTabs(readAgainUnasked);

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={colours} defaultColorScheme="auto" getStyleNonce={() => NONCE}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
