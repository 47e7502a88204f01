/** What the main thread and the feed worker say to each other. */
import type { OutboundRules } from '../../platform/index.js';
import type { Discovery } from '../crawl/discover.js';
import type { SyncRunResult } from '../file/sync-run.js';
import type { ProviderSettings } from '../providers/provider-settings.js';

export interface FeedWorkerData {
  readonly outbound: OutboundRules;
  readonly limits: FeedLimits;
  /** That of the `SearchActivity`. */
  readonly searches: SharedArrayBuffer;
}

export interface FeedLimits {
  /** At one host; 0: as fast as it answers. */
  readonly pagesPerSecond: number;
  readonly runMsMax: number;
  readonly retryAfterMsMax: number;
  readonly pageBytesMax: number;
  readonly answerBytesMax: number;
  readonly recordsMax: number;
}

/** What is read, and with which secret. */
export interface SourceAsk {
  readonly provider: ProviderSettings;
  /** Revealed: this is said to a thread of the same process. */
  readonly secret: string | null;
}

export interface RunAsk extends SourceAsk {
  /** One run of one feed; what comes after it names it. */
  readonly runId: string;
  readonly feed: string;
  readonly mediaStore: string;
  /** A folder that is the feed's own. */
  readonly folder: string;
  readonly isFresh: boolean;
  readonly isEmptinessBelieved: boolean;
  /** Runs of this feed are not further apart, by a clock that is right. */
  readonly apartMsMax: number;
}

/** Of a source that cannot be read: a sentence for whoever owns the feed. */
export interface SourceFault {
  readonly isOk: false;
  readonly message: string;
  /** It answered, and listed nothing where it had records. */
  readonly isEmptied: boolean;
  readonly retryAfterMs?: number;
}

export interface FeedProtocol {
  readonly questions: {
    /** Reads a little of the source, and keeps nothing. */
    readonly check: { readonly ask: SourceAsk; readonly answer: { readonly isOk: true } | SourceFault };
    readonly discover: {
      readonly ask: SourceAsk;
      readonly answer: { readonly isOk: true; readonly discovery: Discovery } | SourceFault;
    };
    /** Leaves the next file in the folder where `wasReplaced`; what is remembered waits for `settle`. */
    readonly run: {
      readonly ask: RunAsk;
      readonly answer: { readonly isOk: true; readonly result: SyncRunResult } | SourceFault;
    };
    /** `isStored`: the file is where it belongs, and what the run learned holds from now on. */
    readonly settle: { readonly ask: { readonly runId: string; readonly isStored: boolean }; readonly answer: null };
  };
  readonly notices: Readonly<Record<never, unknown>>;
  readonly events: {
    readonly progress: { readonly runId: string; readonly done: number; readonly queued: number };
  };
}

/** In the folder of a feed: the file as it is in its media store, and as the run leaves it. */
export const LOCAL_FILE = 'file.sync';
export const NEXT_FILE = 'file.sync.next';
/** A record a line, of files that a media store lists. */
export const LISTING_FILE = 'listing.ndjson';
export const MEMORY_FILE = 'memory';
