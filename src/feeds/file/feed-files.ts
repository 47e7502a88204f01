/** Where the synced files of feeds are stored: a media store as a feed sees it. */
export interface FeedFiles {
  /** Resolves with the bytes of the file, or with undefined if there is no such file. */
  read(path: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Replaces the file in one step, so that a reader gets either the old file or the new one. Rejects, and changes
   * nothing, if the file cannot be written completely.
   */
  replace(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
}
