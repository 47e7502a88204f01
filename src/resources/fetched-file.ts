/** Result of fetching a file that a record links to. */
import type { FileFault, KnownFile } from '../extracts/index.js';
import type { Validators } from '../platform/index.js';

/**
 * Memory per byte of a file: received pieces, joined, and copied to the process that reads it, though not all at once.
 */
export const MEMORY_A_FILE_BYTE = 2;

export type FetchedFile =
  | {
      readonly kind: 'bytes';
      readonly bytes: Uint8Array;
      readonly validators: Validators;
      /** SHA-256 of the bytes in base64url, if known. */
      readonly hash?: string;
    }
  | { readonly kind: 'same'; readonly validators: Validators }
  | {
      readonly kind: 'unreadable';
      readonly error: FileFault;
      readonly detail: string;
      /** Set if the file exists. */
      readonly validators?: Validators;
    }
  | {
      readonly kind: 'unreachable';
      readonly error: FileFault;
      readonly detail: string;
      readonly afterMs?: number | undefined;
    };

export interface FileWanted {
  readonly account: string;
  readonly url: string;
  readonly known: KnownFile | undefined;
  readonly bytesMax: number;
  /** Waits until there is room for a file of so many bytes. Called once, before any of it is read. */
  readonly room: (bytes: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Rejects with the signal's reason, and with unexpected errors. */
export type FileSource = (wanted: FileWanted) => Promise<FetchedFile>;

export function tooLarge(bytesMax: number, validators?: Validators): FetchedFile {
  const detail = `The file has more than ${bytesMax} bytes.`;
  return { kind: 'unreadable', error: 'too-large', detail, ...(validators === undefined ? {} : { validators }) };
}
