/** Lists all files of a store below a prefix, page by page. */
import type { MediaStore, StoredFile } from './media-store.js';

/** The most that servers return per page. */
const PAGE_FILES = 1000;

export interface AllListed {
  /** Beginning of the wanted paths. */
  readonly prefix: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Yields pages of at least one file, in the order of their paths. Rejects if a page cannot be listed, or with the
 * signal's reason.
 */
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
