/** The files in `segments/` of a list, compared with what its manifests name. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { spaceStore } from '../../vectors/index.js';
import { segmentsPath, type ListState, type RecordStore } from '../../records/index.js';

/**
 * Removes what a crash left behind: files that no manifest names, and unfinished ones. Returns a segment number that was
 * never used. Only while nothing writes to the list.
 */
export function removeUnknownSegments(listPath: string, store: RecordStore, state: ListState): number {
  const folder = segmentsPath(listPath);
  mkdirSync(folder, { recursive: true });
  const known = new Set<number>();
  const vectors = knownVectorSegments(store, state);
  for (const { version } of state.versions) for (const { id } of store.version(version).segments()) known.add(id);
  let greatest = Math.max(0, ...known, ...vectors);
  for (const file of readdirSync(folder)) {
    const [, number, ending] = /^(\d{8,})\.(mdb|gvs)$/u.exec(file) ?? [];
    if (number !== undefined) greatest = Math.max(greatest, Number(number));
    if (number === undefined || !(ending === 'gvs' ? vectors : known).has(Number(number)))
      rmSync(join(folder, file), { force: true, recursive: true });
  }
  return greatest + 1;
}

function knownVectorSegments(store: RecordStore, { meaning, versions }: ListState): ReadonlySet<number> {
  const known = new Set<number>();
  for (const { number, indexed } of meaning?.spaces ?? []) {
    for (const { version } of versions) {
      if (!indexed.includes(version)) continue;
      for (const { id } of spaceStore(store, version, number).segments()) known.add(id);
    }
  }
  return known;
}
