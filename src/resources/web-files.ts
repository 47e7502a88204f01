/**
 * Fetches files from the web through the common outgoing client. Refusals are reported, and missing answers retried.
 */
import { validatorsOf, type OutboundRules } from '../platform/index.js';
import { OutboundClient, OutboundFailedError, type OutboundResponse } from '../platform/outbound/outbound-client.js';
import { isCutOff } from './cut-files.js';
import { tooLarge, type FetchedFile, type FileSource, type FileWanted } from './fetched-file.js';

const CONNECT_MS = 10_000;
const IDLE_MS = 30_000;
const KEEP_ALIVE_MS = 5000;
const WAITING_MAX = 1024;
const CUT_OFF = 'The server closed the connection before the end of the file.';
const REDIRECTS_MAX = 5;
/** Statuses after which the answer may differ later. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);
const SERVER_FAULTS = 500;
/** Failures that a retry would repeat. */
const GONE: ReadonlySet<OutboundFailedError['reason']> = new Set(['too-many-redirects', 'bad-answer']);
const LARGE: ReadonlySet<OutboundFailedError['reason']> = new Set(['too-large', 'too-large-decompressed']);

export interface WebFilesOptions {
  readonly rules: OutboundRules;
  readonly bytesMax: number;
  readonly totalMs: number;
  readonly connectionsPerHost: number;
  readonly connections: number;
}

export class WebFiles {
  readonly #client: OutboundClient;
  readonly #now: () => number;

  constructor({ rules, bytesMax, totalMs, connectionsPerHost, connections }: WebFilesOptions, now = Date.now) {
    this.#now = now;
    this.#client = new OutboundClient({
      rules,
      userAgent: 'Gannet',
      limits: { headersMs: IDLE_MS, idleMs: IDLE_MS, totalMs, wireBytesMax: bytesMax, bytesMax },
      connectMs: CONNECT_MS,
      keepAliveMs: KEEP_ALIVE_MS,
      connectionsPerHostMax: connectionsPerHost,
      connectionsMax: connections,
      waitingMax: WAITING_MAX,
    });
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  readonly fetch: FileSource = async (wanted) => {
    const { url, known, bytesMax, signal } = wanted;
    try {
      const validators = known?.validators ?? {};
      const limits = { wireBytesMax: bytesMax, bytesMax };
      const response = await this.#client.request({ url, validators, redirectsMax: REDIRECTS_MAX, limits, signal });
      return await this.#answered(response, wanted);
    } catch (error) {
      signal.throwIfAborted();
      return failed(error, bytesMax);
    }
  };

  async #answered(response: OutboundResponse, { bytesMax, room }: FileWanted): Promise<FetchedFile> {
    const { status } = response;
    const validators = validatorsOf(response.headers, this.#now());
    if (response.isNotModified) {
      response.discard();
      return { kind: 'same', validators };
    }
    if (!response.ok) {
      response.discard();
      return refused(status, response.retryAfterMs(this.#now()));
    }
    const announced = Number(response.headers['content-length'] ?? NaN);
    const isPlain = (response.headers['content-encoding'] ?? '') === '';
    if (announced > bytesMax) {
      response.discard();
      return tooLarge(bytesMax, validators);
    }
    await room(isPlain && announced >= 0 ? announced : bytesMax);
    const bytes = await response.bytes();
    // If the response does not mark its end, an early close looks like the end of the file.
    if (!response.tellsItsEnd && isCutOff(bytes)) return { kind: 'unreachable', error: 'timed-out', detail: CUT_OFF };
    return { kind: 'bytes', bytes, validators };
  }
}

function refused(status: number, afterMs: number | undefined): FetchedFile {
  const detail = `The server answered ${status}.`;
  if (status >= SERVER_FAULTS || TEMPORARY.has(status))
    return { kind: 'unreachable', error: 'timed-out', detail, afterMs };
  return { kind: 'unreadable', error: 'not-found', detail };
}

function failed(error: unknown, bytesMax: number): FetchedFile {
  const { name, message } = error as Error;
  if (name === 'OutboundRefusedError') return { kind: 'unreadable', error: 'refused-address', detail: message };
  if (!(error instanceof OutboundFailedError)) throw error;
  if (LARGE.has(error.reason)) return tooLarge(bytesMax);
  if (GONE.has(error.reason)) return { kind: 'unreadable', error: 'not-found', detail: message };
  return { kind: 'unreachable', error: 'timed-out', detail: message };
}
