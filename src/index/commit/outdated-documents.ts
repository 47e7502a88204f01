/** Finds the documents of an index that a commit replaces or removes. */
import type { GenerationHandle, Kernel, SegmentHandle } from '../../../native-bindings/index.js';
import type { SegmentDeletion } from '../contract/ingest-tasks.js';

const NOT_FOUND = 0xffff_ffff;

export interface OutdatedDocuments {
  /** Number of the segment. */
  readonly id: number;
  readonly deletion: SegmentDeletion;
}

/** Returns the live documents with these record numbers, grouped by segment. */
export function outdatedDocuments(
  kernel: Kernel,
  index: {
    readonly generation: GenerationHandle;
    readonly segments: readonly { readonly id: number; readonly handle: SegmentHandle }[];
  },
  numbers: readonly number[],
): readonly OutdatedDocuments[] {
  if (numbers.length === 0) return [];
  const located = kernel.locate(index.generation, Uint32Array.from(numbers));
  const documents = new Map<SegmentHandle, number[]>();
  for (let at = 0; at < located.length; at += 2) {
    const segment = located[at] as number;
    const document = located[at + 1] as number;
    if (document === NOT_FOUND) continue;
    const list = documents.get(segment);
    if (list === undefined) documents.set(segment, [document]);
    else list.push(document);
  }
  return index.segments.flatMap(({ id, handle }) => {
    const list = documents.get(handle);
    return list === undefined ? [] : [{ id, deletion: { segment: handle, documents: Uint32Array.from(list) } }];
  });
}
