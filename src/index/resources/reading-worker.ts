/** Worker that reads the files of one lane, one at a time. Main thread only. */
import type {
  FileReader,
  FileToRead,
  KnownFile,
  ReadingItem,
  ReadingOutcome,
  ReadingTypes,
  ReadKind,
  Transcribing,
} from '../../extracts/index.js';
import type { LaneWorker, Work, WorkOutcome } from '../../platform/work/index.js';

/** If a host asks for a longer wait, its file is postponed, so that the lane can continue with other hosts. */
const LANE_WAIT_MS_MAX = 60_000;
const POSTPONED_MAX = 5;

export interface ReadingWorkerOptions {
  readonly account: () => string;
  /** Name of the model that embeds pictures; undefined if none are read. */
  readonly pictureModel: () => string | undefined;
  readonly lane: string;
  readonly reader: FileReader;
  /** Returns what is known of the file. */
  readonly known: (file: FileToRead) => KnownFile | undefined;
  /** Returns the other kinds as which the bytes with this hash, which the URL has now, are still to be read. */
  readonly awaitedAs: (file: FileToRead, hash: string) => readonly ReadKind[];
  /** Returns how the file is transcribed; undefined if it is not. */
  readonly transcribing: (item: ReadingItem) => Transcribing | undefined;
}

export function readingWorker({
  account,
  pictureModel,
  lane,
  reader,
  known,
  awaitedAs,
  transcribing,
}: ReadingWorkerOptions): LaneWorker<ReadingTypes> {
  const readOne = async ({ item, dueMs }: Work<ReadingItem>, abort: AbortSignal) => {
    const { url, kind = 'document', forced, postponed } = item;
    try {
      const model = pictureModel();
      const request = {
        account: account(),
        url,
        kind,
        ...(model === undefined ? {} : { pictureModel: model }),
        known: forced ? undefined : known({ kind, url }),
        transcribing: transcribing(item),
        // A transcription may use bytes that were fetched at any time: if the file has changed since, the hash of its
        // passages differs.
        sinceMs: item.transcribe === true ? 0 : dueMs,
        awaitedAs: (hash: string) => awaitedAs({ kind, url }, hash),
      };
      return outcomeOf(await reader.read(request, abort), postponed);
    } catch (error) {
      if (abort.aborted) return outcomeOf(STOPPED, 0);
      const detail = error instanceof Error ? error.message : String(error);
      return outcomeOf({ kind: 'unreachable', error: 'timed-out', detail, afterMs: undefined }, POSTPONED_MAX);
    }
  };
  return {
    receiver: lane,
    batchMax: 1,
    perform: (work, abort) => Promise.all(work.map((each) => readOne(each, abort))),
    note: ({ work: { item }, result }) => ({ item, result }),
    failure: () => null,
  };
}

/** Outcome of an aborted attempt, which has no effect. */
const STOPPED: ReadingOutcome = {
  kind: 'unreachable',
  error: 'timed-out',
  detail: 'The list was closed.',
  afterMs: undefined,
};

function outcomeOf(result: ReadingOutcome, postponed: number): WorkOutcome<ReadingOutcome> {
  if (result.kind !== 'unreachable') return { verdict: 'done', result };
  const { afterMs = 0 } = result;
  if (afterMs > LANE_WAIT_MS_MAX) return { verdict: postponed < POSTPONED_MAX ? 'done' : 'refused', result };
  return { verdict: 'failed', result, ...(afterMs > 0 ? { notBeforeMs: Date.now() + afterMs } : {}) };
}
