/**
 * What one commit does to the index of vectors of a version: a segment of what it puts, and vectors in other segments that are out of
 * date. Order: `build` (a synced file that no manifest names yet), `apply` inside the transaction, `change`; on failure `discard`.
 * Belongs to one task of one thread.
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

  /** `outdated`: records whose vectors in earlier segments count no longer. Throws KernelError. */
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

  /** After the transaction; undefined where nothing changed. The receiver owns the segment's handle. */
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
 * Writes a segment of these records' vectors; undefined where there is none. It has no graph, however many there are: writes wait for this,
 * and a merge, which nobody waits for, makes one. Throws KernelError, or `DamagedVectorsError`.
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

/** Where the vectors of these records lie in the segment, whose records ascend. */
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
