/** The messages between the main thread and the feed worker. */
import type { OutboundRules } from '../../platform/index.js';
import type { Discovery } from '../crawl/discover.js';
import type { SyncRunResult } from '../file/sync-run.js';
import type { ProviderSettings } from '../providers/provider-settings.js';

export interface FeedWorkerData {
  readonly outbound: OutboundRules;
  readonly limits: FeedLimits;
  /** The buffer of the `SearchActivity`. */
  readonly searches: SharedArrayBuffer;
}

export interface FeedLimits {
  /** For each host. 0: as fast as the host answers. */
  readonly pagesPerSecond: number;
  readonly runMsMax: number;
  readonly retryAfterMsMax: number;
  readonly pageBytesMax: number;
  readonly answerBytesMax: number;
  readonly recordsMax: number;
}

/** The source to be read, and its secret. */
export interface SourceAsk {
  readonly provider: ProviderSettings;
  /** Unencrypted, because it only goes to a thread of the same process. */
  readonly secret: string | null;
}

export interface RunAsk extends SourceAsk {
  /** Identifies one run of one feed in later messages. */
  readonly runId: string;
  readonly feed: string;
  readonly mediaStore: string;
  /** The folder of this feed. */
  readonly folder: string;
  readonly isFresh: boolean;
  readonly isEmptinessBelieved: boolean;
  /** Maximum time between two runs of this feed if the clock is right. */
  readonly apartMsMax: number;
}

/** Says that a source cannot be read. The message is a sentence for the owner of the feed. */
export interface SourceFault {
  readonly isOk: false;
  readonly message: string;
  /** True if the source answered with an empty listing although it had records. */
  readonly isEmptied: boolean;
  readonly retryAfterMs?: number;
}

export interface FeedProtocol {
  readonly questions: {
    /** Reads a little of the source and keeps nothing. */
    readonly check: { readonly ask: SourceAsk; readonly answer: { readonly isOk: true } | SourceFault };
    readonly discover: {
      readonly ask: SourceAsk;
      readonly answer: { readonly isOk: true; readonly discovery: Discovery } | SourceFault;
    };
    /**
     * Reads the source. If `wasReplaced`, the new file is in the feed's folder afterwards. What is to be remembered
     * waits for `settle`.
     */
    readonly run: {
      readonly ask: RunAsk;
      readonly answer: { readonly isOk: true; readonly result: SyncRunResult } | SourceFault;
    };
    /** Ends a run. `isStored`: the file is in its media store, so that what the run is to remember becomes valid. */
    readonly settle: { readonly ask: { readonly runId: string; readonly isStored: boolean }; readonly answer: null };
  };
  readonly notices: Readonly<Record<never, unknown>>;
  readonly events: {
    readonly progress: { readonly runId: string; readonly done: number; readonly queued: number };
  };
}

/** Files in the folder of a feed: the synced file as it is in its media store, and the new one that a run leaves. */
export const LOCAL_FILE = 'file.sync';
export const NEXT_FILE = 'file.sync.next';
/** The files that a media store lists, one per line. */
export const LISTING_FILE = 'listing.ndjson';
export const MEMORY_FILE = 'memory';
