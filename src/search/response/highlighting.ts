/** Chooses the words of a search to be marked, and the fields. The kernel does the marking. */
import { kernelConstant, type Kernel } from '../../../native-bindings/index.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import { textOfPage } from '../../extracts/index.js';
import type { RecordParts } from '../../records/index.js';
import type { PackedTexts } from './packed-texts.js';
import type { HighlightsJson } from './result-writer.js';

export type HighlightKernel = Pick<Kernel, 'highlight' | 'highlightPages'>;

/** What is marked in the records of a list. */
export interface HighlightSpec {
  /** Searchable fields; `name` is the record's own name. */
  readonly fieldNames: readonly string[];
  /**
   * Encoded plan that found the records. Every alternative of its groups is marked, including typos, stems and
   * synonyms.
   */
  readonly plan: Uint8Array;
}

/** Result if nothing is marked. */
export const NO_HIGHLIGHTS: HighlightsJson = Object.freeze({ bytes: Buffer.from('{}'), begin: 0, end: 2 });
const TO_BE_SEGMENTED = kernelConstant('HighlightToBeSegmented');
const UNREADABLE = kernelConstant('HighlightUnreadable');
/** Member that holds the text of a page while it is marked. */
const PAGE_TEXT = 'text';
const OPEN_NAME = Buffer.from('{"name":');
const CLOSE = Buffer.from('}');
const COMMA = Buffer.from(',');
const EMPTY_OBJECT_BYTES = 2;

/**
 * Reusable memory for numbers that the kernel reads: a new small array lives in V8's heap and is moved out of it as
 * soon as native code reads it.
 */
class NumberMemory {
  private numbers = new Uint32Array(64);

  /** Returns memory that is valid until the next call. */
  take(length: number): Uint32Array {
    if (length > this.numbers.length) this.numbers = new Uint32Array(length);
    return this.numbers.subarray(0, length);
  }
}

const rangesMemory = new NumberMemory();
const endsMemory = new NumberMemory();

/** Returns the marked passages of each record, in order, as JSON: field name → passage. `{}` if nothing is marked. */
export function highlightRecords(
  kernel: Pick<Kernel, 'highlight'>,
  { fieldNames, plan }: HighlightSpec,
  records: readonly RecordParts[],
): readonly HighlightsJson[] {
  if (records.length === 0) return [];
  const { bytes, ranges } = fieldNames.includes('name') ? fieldsWithNames(records) : fieldsOf(records);
  const ends = endsMemory.take(records.length);
  const marked = kernel.highlight(bytes, ranges, ends, fieldNames, plan);
  let begin = 0;
  return records.map((_, index) => {
    const json = { bytes: marked, begin, end: ends[index] as number };
    begin = json.end;
    if (json.begin < json.end) return json;
    const text = segmented(bytes.subarray(ranges[index * 2], ranges[index * 2 + 1]), fieldNames);
    const again = kernel.highlight(text, Uint32Array.of(0, text.length), new Uint32Array(1), fieldNames, plan);
    return again.length === 0 ? NO_HIGHLIGHTS : { bytes: again, begin: 0, end: again.length };
  });
}

/**
 * Returns the best passage of each page as a JSON string of HTML. Undefined if nothing is marked, null if the page
 * cannot be read.
 */
export function highlightPages(
  kernel: HighlightKernel,
  plan: Uint8Array,
  pages: PackedTexts,
): readonly (HighlightsJson | undefined | null)[] {
  if (pages.length === 0) return [];
  const ends = endsMemory.take(pages.length);
  // Copied: marking segmented pages, or records, reuses the kernel's memory.
  const bytes = new Uint8Array(kernel.highlightPages(pages.bytes, pages.numbers, ends, plan, pages.dictionaries));
  const toBeSegmented: number[] = [];
  const marked: (HighlightsJson | undefined | null)[] = [];
  let begin = 0;
  for (let index = 0; index < ends.length; ++index) {
    const end = ends[index] as number;
    if (end === TO_BE_SEGMENTED) toBeSegmented.push(index);
    const isMarked = end < UNREADABLE && end !== begin;
    marked.push(isMarked ? { bytes, begin, end } : end === UNREADABLE ? null : undefined);
    if (isMarked) begin = end;
  }
  for (const index of toBeSegmented) {
    const [html] = highlightTexts(kernel, plan, [textOfPage(pages.text(index))]);
    const json = html === undefined ? undefined : Buffer.from(JSON.stringify(html));
    marked[index] = json && { bytes: json, begin: 0, end: json.length };
  }
  return marked;
}

/** Returns the best passage of each text as HTML. Undefined if nothing is marked. */
export function highlightTexts(
  kernel: HighlightKernel,
  plan: Uint8Array,
  texts: readonly string[],
): readonly (string | undefined)[] {
  const objects = texts.map((text) => Buffer.from(JSON.stringify({ [PAGE_TEXT]: segmentForKernel(text) })));
  const ranges = new Uint32Array(texts.length * 2);
  let end = 0;
  for (const [index, { length }] of objects.entries()) {
    ranges[index * 2] = end;
    ranges[index * 2 + 1] = end += length;
  }
  const ends = new Uint32Array(texts.length);
  const marked = kernel.highlight(Buffer.concat(objects), ranges, ends, [PAGE_TEXT], plan);
  const json = Buffer.from(marked.buffer, marked.byteOffset, marked.byteLength);
  return texts.map((_, index) => {
    const object = json.toString('utf8', ends[index - 1] ?? 0, ends[index]);
    return object === '' ? undefined : (JSON.parse(object) as Readonly<Record<string, string>>)[PAGE_TEXT];
  });
}

interface RecordFields {
  readonly bytes: Uint8Array;
  /** Begin and end of each record's object of fields. */
  readonly ranges: Uint32Array;
}

/** Requires that all records are in the same bytes, as those of one page are. */
function fieldsOf(records: readonly RecordParts[]): RecordFields {
  const ranges = rangesMemory.take(records.length * 2);
  for (const [index, { fieldsBegin, end }] of records.entries()) {
    ranges[index * 2] = fieldsBegin;
    ranges[index * 2 + 1] = end;
  }
  return { bytes: (records[0] as RecordParts).bytes, ranges };
}

function fieldsWithNames(records: readonly RecordParts[]): RecordFields {
  const objects = records.map(withName);
  const ranges = rangesMemory.take(records.length * 2);
  let begin = 0;
  for (const [index, { length }] of objects.entries()) {
    ranges[index * 2] = begin;
    ranges[index * 2 + 1] = begin += length;
  }
  return { bytes: Buffer.concat(objects), ranges };
}

/** Returns the fields with the name first, so that the name is marked like a field. */
function withName({ nameJson, fields }: RecordParts): Uint8Array {
  if (fields.length <= EMPTY_OBJECT_BYTES) return Buffer.concat([OPEN_NAME, nameJson, CLOSE]);
  return Buffer.concat([OPEN_NAME, nameJson, COMMA, fields.subarray(1)]);
}

/**
 * Returns the fields with U+200B between words of scripts without spaces, as the write side segmented them for
 * indexing.
 */
function segmented(fields: Uint8Array, fieldNames: readonly string[]): Uint8Array {
  const record = JSON.parse(Buffer.from(fields.buffer, fields.byteOffset, fields.byteLength).toString()) as Record<
    string,
    unknown
  >;
  const wanted = fieldNames.flatMap((name) =>
    Object.hasOwn(record, name) ? [[name, segmentedValue(record[name])] as const] : [],
  );
  return Buffer.from(JSON.stringify(Object.fromEntries(wanted)));
}

function segmentedValue(value: unknown): unknown {
  if (typeof value === 'string') return segmentForKernel(value);
  if (Array.isArray(value)) return value.map(segmentedValue);
  return value;
}
