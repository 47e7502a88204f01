/** Has the files of one lane read, one at a time. Main thread only. */
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

/** A host that asks for a longer wait is left alone by a look at another time; the lane, which others share, goes on. */
const LANE_WAIT_MS_MAX = 60_000;
const POSTPONED_MAX = 5;

export interface ReadingWorkerOptions {
  readonly account: () => string;
  /** Name of what makes vectors of pictures; undefined where none is read. */
  readonly pictureModel: () => string | undefined;
  readonly lane: string;
  readonly reader: FileReader;
  /** What is known of the file. */
  readonly known: (file: FileToRead) => KnownFile | undefined;
  /** As what else than this the bytes of this hash, which are those behind its URL now, will be read. */
  readonly awaitedAs: (file: FileToRead, hash: string) => readonly ReadKind[];
  /** How what is said in the file is written down; undefined where it is not. */
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
        // What is written down is what was read: that it changed meanwhile, its words tell.
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

/** Of an attempt that was broken off, which counts for nothing. */
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
