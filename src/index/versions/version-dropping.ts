/**
 * Removes a version. It is hidden from searches at once; when its last search has ended, its records, index and files
 * are removed. It is hidden in a turn of the queue, so that no commit to it is in progress. Main thread only.
 */
import { rm } from 'node:fs/promises';
import type { RecordStore } from '../../records/index.js';
import { segmentFile, vectorSegmentFile, type ListState } from '../../store/index.js';
import type { CommitPublisher } from './commit-publisher.js';
import type { PublishedVersions } from './published-versions.js';

export interface VersionDroppingOptions {
  readonly listPath: string;
  readonly store: RecordStore;
  readonly published: PublishedVersions;
  readonly commits: CommitPublisher;
  /** Versions that are being dropped: the state may still name them, but they are no longer visible. */
  readonly dropping: Set<number>;
  readonly exclusive: <Result>(action: () => Promise<Result>) => Promise<Result>;
  readonly adopt: (state: ListState) => void;
}

export async function dropVersion(options: VersionDroppingOptions, version: number): Promise<void> {
  const { listPath, store, dropping, exclusive } = options;
  const published = await exclusive(() => {
    dropping.add(version);
    return Promise.resolve(options.published.remove(version));
  });
  try {
    const files = [
      ...[...(published?.sizes ?? []), ...(published?.pageSizes ?? [])].map(({ id }) => segmentFile(listPath, id)),
      ...[...(published?.vectorSizes ?? []), ...(published?.pictureSizes ?? [])].map(({ id }) =>
        vectorSegmentFile(listPath, id),
      ),
    ];
    published?.retire();
    await published?.unused();
    await exclusive(async () => {
      options.adopt(await options.commits.run({ kind: 'drop-version', listPath, version }));
      store.forgetVersion(version);
    });
    await Promise.all(files.map((file) => rm(file, { force: true })));
  } finally {
    dropping.delete(version);
  }
}

/** Versions that have data on disk and are not in the list's state. */
export function orphanedVersions(store: RecordStore, { versions }: ListState): readonly number[] {
  const known = new Set(versions.map(({ version }) => version));
  return store.versionsOnDisk().filter((version) => !known.has(version));
}
