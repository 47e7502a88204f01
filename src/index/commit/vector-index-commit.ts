/**
 * Changes that one commit makes to the index of a version's vectors: a segment of new vectors, and outdated vectors in
 * other segments. Order: `build` (writes a synced file that is not in a manifest yet), `apply` inside the transaction,
 * `change`; on failure `discard`. Belongs to one task of one thread.
 */
import { rmSync } from 'node:fs';
import type { Kernel, VectorSegmentHandle } from '../../../native-bindings/index.js';
import { vectorSegmentFile } from '../../store/index.js';
import { decodeVectors, type SpaceStore } from '../../vectors/index.js';
import type { BuiltSegment, OpenVectorSegment, VectorIndexChange, VectorIndexView } from '../contract/ingest-tasks.js';

export interface VectorIndexCommitOptions {
  readonly kernel: Kernel;
  readonly listPath: string;
  readonly vectors: SpaceStore;
  readonly view: VectorIndexView;
}

export class VectorIndexCommit {
  private built: (BuiltSegment & { readonly handle: VectorSegmentHandle }) | undefined;
  private deletions: readonly (OpenVectorSegment & { readonly records: Uint32Array; readonly positions: number[] })[] =
    [];

  constructor(private readonly options: VectorIndexCommitOptions) {}

  /**
   * Builds the segment. `outdated`: records whose vectors in earlier segments are no longer valid. Throws KernelError.
   */
  build(put: Iterable<readonly [recordNumber: number, bytes: Uint8Array]>, outdated: readonly number[]): void {
    const { kernel, listPath, view } = this.options;
    const path = vectorSegmentFile(listPath, view.newSegment);
    const segment = buildVectorSegment(kernel, path, put);
    if (segment !== undefined) this.built = { id: view.newSegment, handle: kernel.openVectorSegment(path), ...segment };
    if (outdated.length === 0) return;
    const records = Uint32Array.from(outdated);
    this.deletions = view.segments.flatMap((each) => {
      const positions = positionsOf(kernel, each.handle, outdated);
      return positions.length === 0 ? [] : [{ ...each, records, positions }];
    });
  }

  apply(): void {
    const { vectors } = this.options;
    for (const { id, positions } of this.deletions) vectors.addDeletions(id, positions);
    if (this.built === undefined) return;
    const { id, documentCount, fileBytes } = this.built;
    void vectors.manifest.putSync(id, { documentCount, deletedCount: 0, fileBytes });
  }

  /**
   * Change of the index, after the transaction; undefined if nothing changed. The receiver owns the segment's handle.
   */
  get change(): VectorIndexChange | undefined {
    if (this.built === undefined && this.deletions.length === 0) return undefined;
    const { space } = this.options.view;
    const added =
      this.built === undefined ? [] : [{ id: this.built.id, handle: this.built.handle, deleted: undefined }];
    const deletions = this.deletions.map(({ handle, records }) => ({ segment: handle, records }));
    return { space, added, removed: [], deletions };
  }

  discard(): void {
    const { kernel, listPath, view } = this.options;
    if (this.built !== undefined) kernel.closeVectorSegment(this.built.handle);
    this.built = undefined;
    rmSync(vectorSegmentFile(listPath, view.newSegment), { force: true });
  }
}

/**
 * Writes a segment of these records' vectors; returns undefined if there are none. The segment has no graph, whatever
 * its size, because writes wait for this; a merge, which nobody waits for, builds the graph. Throws KernelError, or
 * `DamagedVectorsError`.
 */
export function buildVectorSegment(
  kernel: Kernel,
  path: string,
  put: Iterable<readonly [recordNumber: number, bytes: Uint8Array]>,
): Omit<BuiltSegment, 'id'> | undefined {
  const found = Array.from(put, ([recordNumber, bytes]) => ({ recordNumber, ...decodeVectors(bytes) }));
  const [first] = found;
  if (first === undefined) return undefined;
  const { dimensions } = first;
  const count = found.reduce((sum, each) => sum + each.count, 0);
  const rows = {
    dimensions,
    vectors: new Float32Array(count * dimensions),
    records: new Uint32Array(count),
    places: new Uint32Array(count),
  };
  let row = 0;
  for (const { recordNumber, count: places, values } of found) {
    rows.vectors.set(values, row * dimensions);
    for (let place = 0; place < places; ++place, ++row) {
      rows.records[row] = recordNumber;
      rows.places[row] = place;
    }
  }
  const { vectorCount, fileBytes } = kernel.buildVectorSegment(path, rows, { graph: false });
  return { documentCount: vectorCount, fileBytes };
}

/** Returns the positions of these records' vectors in the segment, whose records are in ascending order. */
export function positionsOf(kernel: Kernel, segment: VectorSegmentHandle, recordNumbers: Iterable<number>): number[] {
  const { records } = kernel.vectorSegmentRows(segment);
  const positions: number[] = [];
  for (const recordNumber of recordNumbers) {
    for (let at = lowerBound(records, recordNumber); records[at] === recordNumber; ++at) positions.push(at);
  }
  return positions;
}

function lowerBound(ascending: Uint32Array, value: number): number {
  let begin = 0;
  let end = ascending.length;
  while (begin < end) {
    const middle = (begin + end) >> 1;
    if ((ascending[middle] as number) < value) begin = middle + 1;
    else end = middle;
  }
  return begin;
}
