/** The entry of the console. */
import '@mantine/core/styles.css';
import { Loader, MantineProvider } from '@mantine/core';
import { createRoot } from 'react-dom/client';

const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <MantineProvider
      getStyleNonce={() => document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? ''}
    >
      <Loader />
    </MantineProvider>,
  );
}
