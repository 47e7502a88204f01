/** An example of a feature's worker: its entry file contains its answers, and nothing else is needed. */
import { serveHost } from '../../../../src/platform/hosts/serve-host.js';
import type { EchoProtocol } from './echo-protocol.js';

serveHost<EchoProtocol>(() => ({
  answers: { reverse: (text) => Array.from(text).reverse().join('') },
  notices: {},
}));
