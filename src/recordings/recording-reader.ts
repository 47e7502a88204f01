/** Reads the words of recordings in separate processes (`FileProcesses`). Main thread only. */
import { FileProcesses, type FileProtocol, type FileReaderOptions } from '../platform/hosts/index.js';
import { compiledFile, packageRoot } from '../platform/index.js';
import { RecordingError, type RecordingFault, type RecordingLimits, type RecordingText } from './types.js';

export type RecordingProtocol = FileProtocol<RecordingText, RecordingLimits, RecordingFault>;

const HEAP_MIB_MAX = 512;
const NICENESS = 10;
const IDLE_MS_MAX = 10_000;

export type RecordingReaderOptions = FileReaderOptions<RecordingLimits>;

export class RecordingReader {
  readonly #processes: FileProcesses<RecordingText, RecordingLimits, RecordingFault>;

  constructor({ processes, memoryMibMax, limits, onDeath, onBug }: RecordingReaderOptions) {
    this.#processes = new FileProcesses({
      noun: 'recording',
      processes,
      limits,
      host: {
        name: 'recordings',
        entry: compiledFile('src/recordings/recording.worker'),
        heapMibMax: HEAP_MIB_MAX,
        memoryMibMax,
        niceness: NICENESS,
        idleMsMax: IDLE_MS_MAX,
        readableFolders: [packageRoot()],
        onDeath,
      },
      onBug,
      asError: (fault, message) => new RecordingError(fault, message),
    });
  }

  /** Reads the words of a video, an audio file or a subtitle file. Like `FileProcesses.read`, with a RecordingError. */
  read(bytes: Uint8Array, signal?: AbortSignal): Promise<RecordingText> {
    return this.#processes.read(bytes, signal);
  }

  close(): Promise<void> {
    return this.#processes.close();
  }
}
