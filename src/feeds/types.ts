/** Feeds and sources of lists as they are kept: the collections `feeds` and `list-sources` of `data/system`. */
import type { ProviderSettings } from './providers/provider-settings.js';
import type { FeedState } from './runs/feed-state.js';

export interface FeedRow {
  /** A feed that takes the name of one that was deleted is another one; its folder is `data/feeds/<id>`. */
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly provider: ProviderSettings;
  readonly media_store: string;
  /** The store from which its file is still to be removed: it moved from there, or was to move there and has not. */
  readonly leaving: string | null;
  readonly interval_minutes: number;
  /** Sealed; null where the provider needs none. */
  readonly secret: string | null;
  readonly state: FeedState;
  /** When the next run is due; null: at once. */
  readonly next_sync: string | null;
  readonly created_utc: string;
}

/** What a list imports from: a feed's file, or any file of a media store. */
export interface SourceRow {
  readonly list_id: string;
  readonly account: string;
  readonly list: string;
  /** Id of the feed; null for another file. */
  readonly feed: string | null;
  readonly media_store: string;
  readonly path: string;
  readonly keep_in_sync: boolean;
  /** That of the file when the list was made like it last. */
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

/** What files of feeds were called before. */
export function formerFeedPath(name: string): string {
  return `feeds/${name}.ndjson`;
}
