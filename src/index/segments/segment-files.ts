/** Compares the files in `segments/` of a list with its manifests. */
import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeSyncedFolderNow } from '../../platform/index.js';
import { spaceStore } from '../../vectors/index.js';
import { partStore } from '../parts/part-store.js';
import type { RecordStore } from '../../records/index.js';
import { segmentNumbers } from './segment-numbers.js';
import { PICTURE_SPACE, segmentFile, segmentsPath, vectorSegmentFile, type ListState } from '../../store/index.js';

/**
 * Removes what a crash left behind: files that are in no manifest, and unfinished ones. Returns a function that
 * allocates segment numbers that were never used. Nothing may write to the list meanwhile.
 */
export function removeUnknownSegments(listPath: string, store: RecordStore, state: ListState): () => number {
  const folder = segmentsPath(listPath);
  makeSyncedFolderNow(folder);
  const known = knownWordSegments(store, state);
  const vectors = knownVectorSegments(store, state);
  let greatest = Math.max(0, ...known, ...vectors);
  for (const file of readdirSync(folder)) {
    const [, number, ending] = /^(\d{8,})\.(mdb|gvs)$/u.exec(file) ?? [];
    if (number !== undefined) greatest = Math.max(greatest, Number(number));
    if (number === undefined || !(ending === 'gvs' ? vectors : known).has(Number(number)))
      rmSync(join(folder, file), { force: true, recursive: true });
  }
  return segmentNumbers(listPath, greatest + 1);
}

/**
 * Returns the names of the files in `segments/` that the list's manifests name; empty for a list whose creation was
 * interrupted.
 */
export function namedSegmentFiles(listPath: string, store: RecordStore): string[] {
  const state = store.state();
  if (state === undefined) return [];
  return [
    ...Array.from(knownWordSegments(store, state), (id) => segmentFile(listPath, id)),
    ...Array.from(knownVectorSegments(store, state), (id) => vectorSegmentFile(listPath, id)),
  ].map((path) => basename(path));
}

/** Segments of the fields and of parts, which are files of the same kind. */
function knownWordSegments(store: RecordStore, state: ListState): ReadonlySet<number> {
  const known = new Set<number>();
  for (const { version } of state.versions) for (const { id } of store.version(version).segments()) known.add(id);
  for (const { version, name } of state.parts ?? [])
    for (const { id } of partStore(store, version, name).segments()) known.add(id);
  return known;
}

function knownVectorSegments(store: RecordStore, { meaning, pictures, versions }: ListState): ReadonlySet<number> {
  const known = new Set<number>();
  const ofPictures = pictures === undefined ? [] : [{ number: PICTURE_SPACE, indexed: pictures.indexed }];
  for (const { number, indexed } of [...(meaning?.spaces ?? []), ...ofPictures]) {
    for (const { version } of versions) {
      if (!indexed.includes(version)) continue;
      for (const { id } of spaceStore(store, version, number).segments()) known.add(id);
    }
  }
  return known;
}
