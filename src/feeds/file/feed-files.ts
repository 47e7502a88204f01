/** Where synced files lie: a media store, seen from a feed. */
export interface FeedFiles {
  /** Undefined: there is no such file. */
  read(path: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** In one step: whoever reads gets the old file or the new one. Rejects, and changes nothing, where it cannot be written whole. */
  replace(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
}
