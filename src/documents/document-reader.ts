/** Reads documents in separate processes (`FileProcesses`). Main thread only. */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { FileProcesses, type FileReaderOptions } from '../platform/hosts/index.js';
import { compiledFile, packageRoot } from '../platform/index.js';
import { DocumentError, type DocumentFault, type DocumentLimits, type DocumentText } from './types.js';

const HEAP_MIB_MAX = 256;
const NICENESS = 10;
const IDLE_MS_MAX = 10_000;
/** Additional time for a page that was started in time. */
const GRACE_MS = 5000;

export type DocumentReaderOptions = FileReaderOptions<DocumentLimits>;

export class DocumentReader {
  readonly #processes: FileProcesses<DocumentText, DocumentLimits, DocumentFault>;

  constructor({ processes, memoryMibMax, limits, onDeath, onBug }: DocumentReaderOptions) {
    this.#processes = new FileProcesses({
      noun: 'document',
      processes,
      limits,
      graceMs: GRACE_MS,
      host: {
        name: 'documents',
        entry: compiledFile('src/documents/document.worker'),
        heapMibMax: HEAP_MIB_MAX,
        memoryMibMax,
        niceness: NICENESS,
        idleMsMax: IDLE_MS_MAX,
        readableFolders: [packageRoot(), libraryFolder()],
        onDeath,
      },
      onBug,
      asError: (fault, message) => new DocumentError(fault, message),
    });
  }

  /** Like `FileProcesses.read`, with a DocumentError. */
  read(bytes: Uint8Array, signal?: AbortSignal): Promise<DocumentText> {
    return this.#processes.read(bytes, signal);
  }

  close(): Promise<void> {
    return this.#processes.close();
  }
}

/** Returns the library's folder, which may be next to this package rather than inside it. */
function libraryFolder(): string {
  return dirname(dirname(createRequire(import.meta.url).resolve('@hyzyla/pdfium')));
}
