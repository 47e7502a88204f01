/** All that a store has below a prefix, page by page. */
import type { MediaStore, StoredFile } from './media-store.js';

/** What a server answers at most. */
const PAGE_FILES = 1000;

export interface AllListed {
  /** Paths begin with it. */
  readonly prefix: string;
  readonly signal?: AbortSignal | undefined;
}

/** Pages of at least one file, in the order of their paths. Rejects where one cannot be listed, or with the signal's reason. */
export async function* listedPages(
  store: Pick<MediaStore, 'list'>,
  { prefix, signal }: AllListed,
): AsyncGenerator<readonly StoredFile[]> {
  for (let after: string | undefined = ''; after !== undefined;) {
    signal?.throwIfAborted();
    const { files, hasMore } = await store.list({ prefix, after, size: PAGE_FILES, signal });
    if (files.length > 0) yield files;
    after = hasMore ? files.at(-1)?.path : undefined;
  }
}
