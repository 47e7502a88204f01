/** Outgoing client for models on loopback. */
import { OutboundClient } from '../../src/platform/outbound/outbound-client.js';

const MS_MAX = 30_000;
const BYTES_MAX = 2 ** 26;

export function modelClient(): OutboundClient {
  return new OutboundClient({
    rules: { allowed_hosts: [], loopback_allowed: true },
    userAgent: 'test',
    limits: { headersMs: MS_MAX, idleMs: MS_MAX, totalMs: MS_MAX, wireBytesMax: BYTES_MAX, bytesMax: BYTES_MAX },
    connectMs: 100_000,
    keepAliveMs: 10_000,
    connectionsPerHostMax: 4,
    connectionsMax: 4,
    waitingMax: 16,
  });
}
