/** Web servers that are available on this machine (docs/decisions/0346). */
import { loadUWebSockets } from '../../src/http/uws-server.js';
import type { WebServerKind } from '../../src/http/web-server.js';
import { describeWhere } from './skip.js';

export const hasUWebSockets = isLoadable();

function isLoadable(): boolean {
  try {
    loadUWebSockets();
    return true;
  } catch {
    return false;
  }
}

/** Runs the same tests with each of them. */
export function describeWebServers(tests: (webServer: WebServerKind) => void): void {
  describeWhere(hasUWebSockets, 'uWebSockets.js has no binary for this machine')('by uWebSockets.js', () =>
    tests('uws'),
  );
  describeWhere(true, '')("by Node.js's own server", () => tests('node'));
}
