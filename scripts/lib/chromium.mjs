/** Where a Chromium may be, and how it is started without a screen or a word to anybody. */
import { existsSync } from 'node:fs';

/** Undefined where there is none. The one without a window of its own takes a third less of a processor. */
export function chromiumPath() {
  const browsers = ['chromium-headless-shell', 'chromium', 'google-chrome'].map((name) => `/usr/bin/${name}`);
  const places = [process.env.GANNET_TEST_CHROMIUM, ...browsers];
  return places.find((path) => path !== undefined && existsSync(path));
}

export const CHROMIUM_ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  // The browser begins the processes of pages by itself: a tenth less of a processor in all.
  '--no-zygote',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
