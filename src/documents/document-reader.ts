/**
 * Reads documents in processes of their own, as many at a time as it may; the others wait. A process that takes too long or too much
 * memory is killed, and its document is told as such: what one document does to its reader concerns no other. Main thread only.
 */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { CallTimedOutError, createChildProcess, HostPool, type Host } from '../platform/hosts/index.js';
import { compiledFile, packageRoot, ServiceError } from '../platform/index.js';
import type { DocumentProtocol } from './document-protocol.js';
import { DocumentError, type DocumentLimits, type DocumentText } from './types.js';

const HEAP_MIB_MAX = 256;
const NICENESS = 10;
const IDLE_MS_MAX = 10_000;
/** To come up, on a busy machine. */
const READY_MS_MAX = 60_000;
/** A page that is begun in time is given so much longer. */
const GRACE_MS = 5000;
const TOO_MUCH_MEMORY = /took more than \d+ MiB/;

export interface DocumentReaderOptions {
  readonly processes: number;
  /** Resident memory of each. */
  readonly memoryMibMax: number;
  readonly limits: DocumentLimits;
  /** A process that ended by itself or was killed; its documents are told elsewhere. */
  readonly onDeath: (error: Error) => void;
  /** An error of the program in a process, and where. */
  readonly onBug: (stack: string) => void;
}

export class DocumentReader {
  readonly #limits: DocumentLimits;
  readonly #processes: HostPool<DocumentProtocol>;

  constructor({ processes, memoryMibMax, limits, onDeath, onBug }: DocumentReaderOptions) {
    this.#limits = limits;
    const hosts = Array.from({ length: processes }, () =>
      createChildProcess<DocumentProtocol>({
        name: 'documents',
        entry: compiledFile('src/documents/document.worker'),
        data: null,
        heapMibMax: HEAP_MIB_MAX,
        memoryMibMax,
        niceness: NICENESS,
        idleMsMax: IDLE_MS_MAX,
        readableFolders: [packageRoot(), libraryFolder()],
        onDeath,
        onBug: (_question, stack) => {
          onBug(stack);
        },
      }),
    );
    this.#processes = new HostPool(hosts);
  }

  /**
   * Rejects with a DocumentError that says why there is no text, with a ServiceError where no process could be started or all are
   * closed, and with the signal's reason.
   */
  read(bytes: Uint8Array, signal?: AbortSignal): Promise<DocumentText> {
    return this.#processes.use(async (host) => {
      await host.call('ready', null, { msMax: READY_MS_MAX, ...(signal === undefined ? {} : { signal }) });
      signal?.throwIfAborted();
      const answer = await this.#ask(host, bytes, signal);
      if ('fault' in answer) throw new DocumentError(answer.fault, answer.message);
      return answer;
    }, signal);
  }

  close(): Promise<void> {
    return this.#processes.close();
  }

  async #ask(host: Host<DocumentProtocol>, bytes: Uint8Array, signal: AbortSignal | undefined) {
    const limits = this.#limits;
    // It hears nothing while it reads.
    const stop = () => {
      host.kill('was killed because nobody wants its document any more');
    };
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await host.call('read', { bytes, limits }, { msMax: limits.msMax + GRACE_MS });
    } catch (error) {
      signal?.throwIfAborted();
      throw asFaultOfDocument(error, limits);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }
}

/** It may lie beside this package instead of in it. */
function libraryFolder(): string {
  return dirname(dirname(createRequire(import.meta.url).resolve('@hyzyla/pdfium')));
}

/** The process was ready before it was asked, so its death is the document's doing. */
function asFaultOfDocument(error: unknown, { msMax }: DocumentLimits): unknown {
  if (error instanceof CallTimedOutError)
    return new DocumentError('timed-out', `The document could not be read in ${msMax} ms`);
  if (!(error instanceof ServiceError) || error.code !== 'internal-error') return error;
  const reason = error.cause instanceof Error ? error.cause.message : '';
  return TOO_MUCH_MEMORY.test(reason)
    ? new DocumentError('too-large', 'The document needs more memory than there is for one')
    : new DocumentError('damaged', 'Reading the document ended the process that read it');
}
