/** Pages to documents of a segment of a part. Belongs to one thread. */
import { DocumentBatchWriter } from '../../../native-bindings/document-batch.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import { PART_PLACE_COLUMN, PART_RECORD_COLUMN, PART_TEXT_FIELD } from './part-layout.js';

export interface PageOfDocument {
  /** From 1. */
  readonly page: number;
  readonly text: string;
  /** It cannot be read: it has no text, and the place that it has with its text. */
  readonly isDamaged?: boolean;
}

export interface PartDocument {
  /** Its own, which no other document of the part ever had. */
  readonly number: number;
  readonly recordNumber: number;
  readonly place: number;
  readonly text: string;
}

const NOT_BLANK = /\S/u;

/** Those that can be found by words, or could, in the order of their numbers. */
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

  /** The batch for Kernel.buildSegment; valid until the writer is used again. */
  finish(): Uint8Array {
    return this.writer.finish();
  }
}
