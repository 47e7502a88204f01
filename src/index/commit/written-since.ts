/**
 * Finds what was written to a version while a task ran beside the writers, so that it can be applied to the segments
 * that the task made.
 */
import type { Kernel, SegmentHandle } from '../../../native-bindings/index.js';
import type { GenerationsSince } from '../contract/ingest-tasks.js';

const NOT_FOUND = 0xffff_ffff;

/** Returns the numbers of the sources' records that were replaced or removed since `before`. */
export function recordsDeletedSince(
  kernel: Kernel,
  { before, now, sources }: Pick<GenerationsSince, 'before' | 'now' | 'sources'>,
): number[] {
  const recordNumbers: number[] = [];
  for (const { handle } of sources) {
    const deletedNow = kernel.generationDeletions(now, handle);
    if (deletedNow === undefined) continue;
    const deletedBefore = kernel.generationDeletions(before, handle);
    const numbers = kernel.recordNumbers(handle);
    deletedNow.forEach((byte, index) => {
      let added = byte & ~(deletedBefore?.[index] ?? 0);
      for (let bit = 0; added !== 0; ++bit, added >>= 1) {
        if ((added & 1) !== 0) recordNumbers.push(numbers[index * 8 + bit] as number);
      }
    });
  }
  return recordNumbers;
}

/** Returns the documents of a segment that contain these records. */
export function documentsIn(kernel: Kernel, segment: SegmentHandle, recordNumbers: readonly number[]): number[] {
  if (recordNumbers.length === 0) return [];
  const documents = kernel.documentsOf(segment, Uint32Array.from(recordNumbers));
  return Array.from(documents).filter((document) => document !== NOT_FOUND);
}

export function bitmapOf(documents: readonly number[], documentCount: number): Uint8Array | undefined {
  if (documents.length === 0) return undefined;
  const bitmap = new Uint8Array(Math.ceil(documentCount / 8));
  for (const document of documents) bitmap[document >> 3] = (bitmap[document >> 3] as number) | (1 << (document & 7));
  return bitmap;
}
