/** Compares the vectors of pictures that are kept with a version's records with their index. Part of `list.check`. */
import type { Kernel } from '../../../native-bindings/index.js';
import type { RecordStore } from '../../records/index.js';
import { decodeVectors, spaceStore } from '../../vectors/index.js';
import type { IndexedPictures } from '../contract/index-changes.js';

export function checkPictures(
  kernel: Kernel,
  { store, version, pictures }: { store: RecordStore; version: number; pictures: IndexedPictures },
  report: (problem: string) => void,
): void {
  const live = livePlaces(kernel, pictures, report);
  const records = store.version(version);
  for (const { key, value } of spaceStore(store, version, pictures.space).vectors.getRange()) {
    const indexed = live.get(key);
    live.delete(key);
    const count = countIn(value, (reason) => {
      report(`the vectors of pictures of record ${key} cannot be read: ${reason}`);
    });
    if (count === undefined) continue;
    if (records.record(key) === undefined)
      report(`vectors of pictures are kept for record ${key}, which is not stored`);
    else if (indexed?.size !== count || [...indexed].some((place) => place >= count))
      report(`of the ${count} pictures of record ${key}, ${indexed?.size ?? 0} are indexed`);
  }
  for (const [record, places] of live) report(`${places.size} pictures of record ${record} are indexed and not kept`);
}

function countIn(bytes: Uint8Array, isDamaged: (reason: string) => void): number | undefined {
  try {
    return decodeVectors(bytes).count;
  } catch (error) {
    isDamaged(String(error));
    return undefined;
  }
}

/** Returns the positions of the live vectors, by record. */
function livePlaces(
  kernel: Kernel,
  { generation, segments }: IndexedPictures,
  report: (problem: string) => void,
): Map<number, Set<number>> {
  const live = new Map<number, Set<number>>();
  for (const { id, handle } of segments) {
    const dead = kernel.deadVectors(generation, handle);
    const { records, places } = kernel.vectorSegmentRows(handle);
    records.forEach((record, row) => {
      if (isSet(dead, row)) return;
      const known = live.get(record) ?? new Set();
      const place = places[row] as number;
      if (known.has(place)) report(`picture ${place} of record ${record} is live in two segments, one of them ${id}`);
      live.set(record, known.add(place));
    });
  }
  return live;
}

function isSet(bits: Uint8Array, index: number): boolean {
  return (((bits[index >> 3] ?? 0) >> (index & 7)) & 1) === 1;
}
