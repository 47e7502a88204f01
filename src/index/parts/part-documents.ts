/** Converts pages to the documents of a part's segment. Belongs to one thread. */
import { DocumentBatchWriter } from '../../../native-bindings/document-batch.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import { PART_PLACE_COLUMN, PART_RECORD_COLUMN, PART_TEXT_FIELD } from './part-layout.js';

export interface PageOfDocument {
  /** Page number, from 1. */
  readonly page: number;
  readonly text: string;
  /** True if the page cannot be read: it has no text, but keeps the position that it has with its text. */
  readonly isDamaged?: boolean;
}

export interface PartDocument {
  /** Number of the document; no other document of the part ever has it. */
  readonly number: number;
  readonly recordNumber: number;
  readonly place: number;
  readonly text: string;
}

const NOT_BLANK = /\S/u;

/**
 * Returns the pages that can be found by words, or could be if they were not damaged, in the order of their numbers.
 */
export function pagesWithText(pages: readonly PageOfDocument[]): readonly PageOfDocument[] {
  return pages.filter(({ text, isDamaged }) => isDamaged === true || NOT_BLANK.test(text));
}

export class PartDocumentWriter {
  private readonly writer = new DocumentBatchWriter();

  get documentCount(): number {
    return this.writer.documentCount;
  }

  add({ number, recordNumber, place, text }: PartDocument): void {
    const { writer } = this;
    writer.begin(number);
    writer.text(PART_TEXT_FIELD, segmentForKernel(text));
    writer.number(PART_RECORD_COLUMN, recordNumber);
    writer.number(PART_PLACE_COLUMN, place);
    writer.end();
  }

  /** Returns the batch for `Kernel.buildSegment`; valid until the writer is used again. */
  finish(): Uint8Array {
    return this.writer.finish();
  }
}
