/** Feeds and the sources of lists as they are stored in the collections `feeds` and `list-sources` of `data/system`. */
import type { ProviderSettings } from './providers/provider-settings.js';
import type { FeedState } from './runs/feed-state.js';

export interface FeedRow {
  /** Identifies the feed. A new feed with the name of a deleted one has another id. Its folder is `data/feeds/<id>`. */
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly provider: ProviderSettings;
  readonly media_store: string;
  /**
   * The store from which the file of the feed still has to be removed, because the feed was moved away from it or could
   * not be moved to it.
   */
  readonly leaving: string | null;
  readonly interval_minutes: number;
  /** Sealed. Null if the provider needs none. */
  readonly secret: string | null;
  readonly state: FeedState;
  /** When the next run is due. Null: at once. */
  readonly next_sync: string | null;
  readonly created_utc: string;
}

/** What a list imports from: the file of a feed, or any file of a media store. */
export interface SourceRow {
  readonly list_id: string;
  readonly account: string;
  readonly list: string;
  /** Id of the feed. Null for any other file. */
  readonly feed: string | null;
  readonly media_store: string;
  readonly path: string;
  readonly keep_in_sync: boolean;
  /** Etag of the file when the list was last made the same as it. */
  readonly applied_etag: string | null;
  readonly last_imported: string | null;
  readonly last_run: ImportRun | null;
  readonly error: { readonly message: string; readonly at: string } | null;
  readonly created_utc: string;
}

export interface ImportRun {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly errors: readonly { readonly line: number; readonly name: string | null; readonly detail: string }[];
  readonly took_ms: number;
}

export function feedPath(name: string): string {
  return `feeds/${name}.sync`;
}

/** The former name of a feed's file. */
export function formerFeedPath(name: string): string {
  return `feeds/${name}.ndjson`;
}
