/** Selects the web server: uWebSockets.js if it has a binary for the machine, otherwise Node.js's own. */
import type { Logger } from 'pino';
import { throwWebServerFault, WEB_SERVER_REPLACED, webServerFault } from '../platform/index.js';
import { createNodeServer } from './node-server.js';
import { createUwsServer, loadUWebSockets } from './uws-server.js';
import type { WebServer, WebServerOptions } from './wire.js';

/** The setting `server.web_server`. */
export type WebServerKind = 'auto' | 'uws' | 'node';

/** Throws an OperatorError if `webServerOf` would. */
export function assertCanCarry(kind: WebServerKind): void {
  if (kind === 'node') return;
  try {
    loadUWebSockets();
  } catch (error) {
    if (kind === 'uws' || webServerFault(error)?.isDamage !== false) throwWebServerFault(error);
  }
}

/**
 * Throws an OperatorError if uWebSockets.js is damaged, or if `uws` is configured and it is not available for this
 * machine.
 */
export function webServerOf(kind: WebServerKind, log: Logger): (options: WebServerOptions) => WebServer {
  if (kind === 'node') return createNodeServer;
  try {
    const library = loadUWebSockets();
    return (options) => createUwsServer(library, options);
  } catch (error) {
    assertCanCarry(kind);
    log.warn({ reason: webServerFault(error)?.advice }, WEB_SERVER_REPLACED);
    return createNodeServer;
  }
}
