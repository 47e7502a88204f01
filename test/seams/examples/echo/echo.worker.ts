/** A worker of a feature: its entry file says what it answers, and nothing else has to be written for it. */
import { serveHost } from '../../../../src/platform/hosts/serve-host.js';
import type { EchoProtocol } from './echo-protocol.js';

serveHost<EchoProtocol>(() => ({
  answers: { reverse: (text) => Array.from(text).reverse().join('') },
  notices: {},
}));
