/** Finds Chromium, and has its options to run without a screen and without network requests of its own. */
import { existsSync } from 'node:fs';

/** Path of Chromium, or undefined if there is none. The headless shell takes a third less processor time. */
export function chromiumPath() {
  const browsers = ['chromium-headless-shell', 'chromium', 'google-chrome'].map((name) => `/usr/bin/${name}`);
  const places = [process.env.GANNET_TEST_CHROMIUM, ...browsers];
  return places.find((path) => path !== undefined && existsSync(path));
}

export const CHROMIUM_ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  // Starts page processes without the zygote, which saves a tenth of the processor time.
  '--no-zygote',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
