/** A file that was fetched from where a record's link leads, or what there is instead. */
import type { FileFault, KnownFile } from '../extracts/index.js';
import type { Validators } from '../platform/index.js';

/** A byte of a file costs so many: in the pieces that come, put together, and on its way to the process that reads it, but not all at a time. */
export const MEMORY_A_FILE_BYTE = 2;

export type FetchedFile =
  | {
      readonly kind: 'bytes';
      readonly bytes: Uint8Array;
      readonly validators: Validators;
      /** Of the bytes, where it is known: SHA-256 in base64url. */
      readonly hash?: string;
    }
  | { readonly kind: 'same'; readonly validators: Validators }
  | {
      readonly kind: 'unreadable';
      readonly error: FileFault;
      readonly detail: string;
      /** Of a file that is there. */
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
  /** Waits until there is room for a file of so many bytes; called once, before any of it is read. */
  readonly room: (bytes: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Rejects with the signal's reason, and with what nobody foresaw. */
export type FileSource = (wanted: FileWanted) => Promise<FetchedFile>;

export function tooLarge(bytesMax: number, validators?: Validators): FetchedFile {
  const detail = `The file has more than ${bytesMax} bytes.`;
  return { kind: 'unreadable', error: 'too-large', detail, ...(validators === undefined ? {} : { validators }) };
}
