/**
 * Converts stored records to documents of a segment: the texts and column values that the kernel indexes. Values that
 * do not fit their facet (kept by a lenient version build) are left out. Belongs to one thread.
 *
 * A segment has each record number once. So a record that is written again within a batch replaces its earlier
 * document: `drop` marks that, and `finish` closes the gaps.
 */
import { DocumentBatchWriter } from '../../../native-bindings/document-batch.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import type { Facet, FieldDefinition } from '../../catalog/index.js';
import { foldFacetValue } from '../../platform/index.js';
import { fieldKind, isPoint } from '../../fields/index.js';
import type { FieldValue, StoredRecord } from '../../records/index.js';
import {
  CREATED_COLUMN,
  LOCATION_COLUMN,
  MODIFIED_COLUMN,
  NAME_COLUMN,
  kernelLayout,
  type KernelLayout,
} from './kernel-layout.js';

type RecordHead = Pick<StoredRecord, 'name' | 'createdMs' | 'modifiedMs'>;

/** Bytes of the document count, which precedes the first document of a batch. */
export const COUNT_BYTES = 4;
/** Texts without any of these characters need no word segmentation by a dictionary. */
const UNSPACED_SCRIPTS = /[\u0e00-\u{10ffff}]/u;

export class DocumentEncoder {
  readonly layout: KernelLayout;
  private readonly writer = new DocumentBatchWriter();
  /** End of each document in the batch. */
  private readonly ends: number[] = [];
  private readonly dropped = new Set<number>();
  private readonly nameColumn: number;
  private readonly createdColumn: number;
  private readonly modifiedColumn: number;
  private readonly locationColumn: number | undefined;

  constructor(private readonly definition: FieldDefinition) {
    this.layout = kernelLayout(definition);
    this.nameColumn = this.requiredColumn(NAME_COLUMN);
    this.createdColumn = this.requiredColumn(CREATED_COLUMN);
    this.modifiedColumn = this.requiredColumn(MODIFIED_COLUMN);
    this.locationColumn = this.layout.column(LOCATION_COLUMN);
  }

  /** Number of documents that `finish` will return. */
  get documentCount(): number {
    return this.ends.length - this.dropped.size;
  }

  /** Returns the position of the document in the batch, for `drop`. */
  add(recordNumber: number, record: RecordHead, fields: Readonly<Record<string, FieldValue>>): number {
    const { writer, definition } = this;
    writer.begin(recordNumber);
    let index = 0;
    for (const field of definition.searchable_fields) {
      const value = field.name === 'name' ? record.name : fields[field.name];
      if (value !== undefined) this.text(index, value);
      index += 1;
    }
    let column = 0;
    for (const facet of definition.facets) {
      const value = fields[facet.name];
      if (value !== undefined) this.facet(column, facet, value);
      column += 1;
    }
    this.string(this.nameColumn, record.name);
    writer.number(this.createdColumn, record.createdMs);
    writer.number(this.modifiedColumn, record.modifiedMs);
    if (this.locationColumn !== undefined && definition.location_field !== null) {
      const point = fields[definition.location_field];
      if (isPoint(point)) writer.location(this.locationColumn, point.latitude, point.longitude);
    }
    writer.end();
    this.ends.push(writer.byteLength);
    return this.ends.length - 1;
  }

  drop(place: number): void {
    this.dropped.add(place);
  }

  /** True if a document of the batch will not be in the segment. */
  get hasDropped(): boolean {
    return this.dropped.size > 0;
  }

  /** Bytes of the batch so far, for `documentsFrom`. */
  get byteLength(): number {
    return this.writer.byteLength;
  }

  /**
   * Returns the documents from there on, including dropped ones, for `SegmentBuild.add`; valid until the encoder is
   * used again.
   */
  documentsFrom(begin: number): Uint8Array {
    return this.writer.documentsFrom(begin);
  }

  /** Returns the batch for `Kernel.buildSegment`; valid until the encoder is used again. */
  finish(): Uint8Array {
    const bytes = this.writer.finish();
    if (this.dropped.size === 0) return bytes;
    let length = COUNT_BYTES;
    let begin = COUNT_BYTES;
    this.ends.forEach((end, place) => {
      if (!this.dropped.has(place)) {
        bytes.copyWithin(length, begin, end);
        length += end - begin;
      }
      begin = end;
    });
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, this.documentCount, true);
    return bytes.subarray(0, length);
  }

  private requiredColumn(name: string): number {
    const column = this.layout.column(name);
    if (column === undefined) throw new Error(`the layout has no column ${name}`);
    return column;
  }

  private text(field: number, value: FieldValue): void {
    if (typeof value === 'string') {
      this.writer.text(field, UNSPACED_SCRIPTS.test(value) ? segmentForKernel(value) : value);
    } else if (Array.isArray(value)) {
      for (const item of value as readonly (string | number | boolean)[]) this.text(field, item);
    } else if (typeof value !== 'object') {
      this.writer.text(field, String(value));
    }
  }

  private facet(column: number, facet: Facet, value: FieldValue): void {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (values.length > 1 && facet.cardinality === 'Single') return;
    const kind = fieldKind(facet.type);
    for (const item of values) {
      const held = kind.columnValue(item);
      if (typeof held === 'number') this.writer.number(column, held);
      else if (held !== undefined) this.string(column, held);
    }
  }

  private string(column: number, value: string): void {
    this.writer.string(column, foldFacetValue(value), value);
  }
}
