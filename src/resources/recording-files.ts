/** Reads the words of a recording together with those of subtitle files next to it. Main thread only. */
import { createHash } from 'node:crypto';
import type { Passage, ReadRecording, RecordingKind } from '../extracts/index.js';
import { RecordingError, type RecordingReader } from '../recordings/index.js';
import type { FetchedFile } from './fetched-file.js';
import { subtitleUrls } from './subtitle-urls.js';

/** Subtitles next to a recording. */
export interface Beside {
  readonly passages: readonly Passage[];
  readonly truncated: boolean;
  /** Hash of their bytes; '' if there are none. */
  readonly hash: string;
}

/** Fetches a subtitle file and passes it on for as long as it may be in memory. */
export type FetchSubtitles = <Read>(url: string, read: (fetched: FetchedFile) => Promise<Read>) => Promise<Read>;

const HASHES_APART = '+';

/** Reads subtitles next to a recording. Missing or unreadable ones are skipped. Rejects like `fetch`. */
export async function readBeside(
  recordings: Pick<RecordingReader, 'read'>,
  url: string,
  fetch: FetchSubtitles,
  signal: AbortSignal,
): Promise<Beside> {
  const passages: Passage[] = [];
  const hash = createHash('sha256');
  let [truncated, isThere] = [false, false];
  for (const each of subtitleUrls(url)) {
    await fetch(each, async (fetched) => {
      if (fetched.kind !== 'bytes') return;
      hash.update(createHash('sha256').update(fetched.bytes).digest());
      isThere = true;
      const read = await wordsOf(recordings, fetched.bytes, signal);
      passages.push(...(read?.passages ?? []));
      truncated ||= read?.truncated === true;
    });
  }
  return { passages, truncated, hash: isThere ? hash.digest('base64url') : '' };
}

/** Reads a recording with its subtitles. Rejects with a RecordingError if neither has words, unless `mayBeSilent`. */
export async function readWith(
  recordings: Pick<RecordingReader, 'read'>,
  file: {
    readonly kind: RecordingKind;
    readonly bytes: Uint8Array;
    readonly beside: Beside;
    readonly mayBeSilent: boolean;
  },
  signal: AbortSignal,
): Promise<ReadRecording> {
  const { kind, bytes, beside, mayBeSilent } = file;
  try {
    const { duration, passages, truncated } = await recordings.read(bytes, signal);
    return {
      kind,
      duration,
      passages: [...passages, ...beside.passages],
      truncated: truncated || beside.truncated,
    };
  } catch (error) {
    const isEmpty = beside.passages.length === 0 && !mayBeSilent;
    if (isEmpty || !(error instanceof RecordingError) || error.fault !== 'no-text') throw error;
    return { kind, duration: undefined, passages: beside.passages, truncated: beside.truncated };
  }
}

/** Returns the hash of the recording and its subtitles. */
export function hashWith(hash: string, beside: Beside | undefined): string {
  return beside === undefined || beside.hash === '' ? hash : `${hash}${HASHES_APART}${beside.hash}`;
}

/** True if the subtitles are the same as when the recording was read. */
export function isBesideAsBefore(hash: string, { hash: now }: Beside): boolean {
  return (hash.split(HASHES_APART)[1] ?? '') === now;
}

async function wordsOf(recordings: Pick<RecordingReader, 'read'>, bytes: Uint8Array, signal: AbortSignal) {
  try {
    return await recordings.read(bytes, signal);
  } catch (error) {
    if (error instanceof RecordingError) return undefined;
    throw error;
  }
}
