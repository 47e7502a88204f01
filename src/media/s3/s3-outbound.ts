/** Outgoing client for buckets: files are large and may come slowly, as long as bytes keep coming. */
import type { OutboundRules } from '../../platform/index.js';
import { OutboundClient } from '../../platform/outbound/outbound-client.js';

const CONNECT_MS = 10_000;
const ANSWER_MS = 60_000;
const DAY_MS = 86_400_000;
const KEEP_ALIVE_MS = 10_000;
const CONNECTIONS_PER_HOST_MAX = 32;
const CONNECTIONS_MAX = 128;
const WAITING_MAX = 4096;

export function createS3Outbound(rules: OutboundRules, bytesMax: number): OutboundClient {
  return new OutboundClient({
    rules,
    userAgent: 'Gannet-Media',
    limits: { headersMs: ANSWER_MS, idleMs: ANSWER_MS, totalMs: DAY_MS, wireBytesMax: bytesMax, bytesMax },
    connectMs: CONNECT_MS,
    keepAliveMs: KEEP_ALIVE_MS,
    connectionsPerHostMax: CONNECTIONS_PER_HOST_MAX,
    connectionsMax: CONNECTIONS_MAX,
    waitingMax: WAITING_MAX,
  });
}
