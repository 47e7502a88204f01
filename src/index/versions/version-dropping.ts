/**
 * Removes a version: no search finds it from now on; when the last search of it has ended, its records, index and files go. It leaves
 * in a turn of the queue, so that no commit to it is under way. Main thread only.
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
  /** Versions that the state may still name and nobody is to see any more. */
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

/** Of which there is something on disk, and which the list's state does not know. */
export function orphanedVersions(store: RecordStore, { versions }: ListState): readonly number[] {
  const known = new Set(versions.map(({ version }) => version));
  return store.versionsOnDisk().filter((version) => !known.has(version));
}
