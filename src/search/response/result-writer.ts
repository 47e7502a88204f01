/**
 * Writes one element of `results`: fragments of the stored record plus what the search adds, spliced without parsing.
 */
import type { TextKind } from '../../extracts/index.js';
import { fittingFields, leftOutMember, type DamagedRecord, type RecordParts } from '../../records/index.js';
import type { ResponseWriter } from './response-writer.js';

/** JSON as a range of bytes: an object for a record, a string for a page. */
export interface HighlightsJson {
  readonly bytes: Uint8Array;
  readonly begin: number;
  readonly end: number;
}

/** Members of a hit for a file by which it was found. */
export interface FileMembers {
  readonly kind: TextKind;
  /** In 0..1. */
  readonly score: number;
  /** Page of a document. Undefined if the record no longer links to the document. */
  readonly document?: DocumentPage | undefined;
  /** Second of a recording. Undefined if the record no longer links to the recording. */
  readonly media?: MediaSecond | undefined;
}

/** Place in a recording, as answered. */
export interface MediaSecond {
  /** Name of the resource field. */
  readonly field: string;
  readonly url: string;
  /** Seconds from the beginning. */
  readonly seconds: number;
  /** Absent if highlighting is off or nothing is marked. */
  readonly highlight?: string;
}

/** Best page of a document. */
export interface DocumentPage {
  /** Name of the resource field. */
  readonly field: string;
  readonly url: string;
  /** Counted from 1. */
  readonly page: number;
  /** Pages of the whole document. */
  readonly pageCount: number;
  /** JSON string. Undefined if highlighting is off or nothing is marked; null if the page cannot be read. */
  readonly highlight: HighlightsJson | undefined | null;
}

export interface HitMembers {
  /** In 0..1. Undefined if text did not contribute. */
  readonly textScore: number | undefined;
  /** In 0..1. Undefined if pictures did not contribute. */
  readonly imageScore?: number | undefined;
  /** Place of the video frame that was found, in the way a picture is. */
  readonly frame?: MediaSecond | undefined;
  /** Files that contributed: at most one per kind, in the order of the kinds. */
  readonly files?: readonly FileMembers[] | undefined;
  /** On a radius search: metres from its centre. */
  readonly distance: number | undefined;
  /** With one hit per value: the number of records that were found with its value. */
  readonly sharing?: number | undefined;
  readonly location: { readonly latitude: number; readonly longitude: number } | undefined;
  /** Undefined if highlighting is off. */
  readonly highlights: HighlightsJson | undefined;
  /** On a group search. */
  readonly listName: string | undefined;
  readonly explainJson: string | undefined;
  /** Undefined for all fields. */
  readonly select: ReadonlySet<string> | undefined;
  /** Limit on the bytes of the fields as JSON. Undefined for no limit. */
  readonly fieldsBytesMax: number | undefined;
}

/** Scale for six digits of a score as small as 1e-12. */
const SCORE_SCALE_MAX = 1e18;
/** Fractions with a larger scale are formatted by the runtime. */
const SHORT_SCALE_MAX = 1e9;

export function writeResult(writer: ResponseWriter, parts: RecordParts, hit: HitMembers): void {
  const { bytes, fieldsBegin, end } = parts;
  writer.ascii('{');
  parts.writeHead(writer);
  if (hit.textScore !== undefined) {
    writer.ascii(',"@text_score":');
    writeScore(writer, hit.textScore);
  }
  if (hit.imageScore !== undefined) {
    writer.ascii(',"@image_score":');
    writeScore(writer, hit.imageScore);
  }
  for (const { kind, score } of hit.files ?? []) {
    writer.ascii(`,"@${kind}_score":`);
    writeScore(writer, score);
  }
  writer.ascii(',');
  parts.writeAsOf(writer);
  if (hit.distance !== undefined) writer.ascii(`,"distance":${millimetres(hit.distance)}`);
  if (hit.location !== undefined) {
    writer.ascii(`,"location":{"latitude":${hit.location.latitude},"longitude":${hit.location.longitude}}`);
  }
  if (hit.sharing !== undefined) writer.ascii(`,"distinct_count":${hit.sharing}`);
  writer.ascii(',"fields":');
  const isWhole = hit.select === undefined && end - fieldsBegin <= (hit.fieldsBytesMax ?? Infinity);
  if (isWhole) writer.bytes(bytes, fieldsBegin, end);
  else {
    const { json, leftOut } = fittingFields(parts.fields, { select: hit.select, bytesMax: hit.fieldsBytesMax });
    writer.text(`${json}${leftOutMember(leftOut)}`);
  }
  if (hit.highlights !== undefined) {
    writer.ascii(',"highlights":');
    writer.bytes(hit.highlights.bytes, hit.highlights.begin, hit.highlights.end);
  }
  writeFiles(writer, hit);
  if (hit.listName !== undefined) writer.text(`,"list_name":${JSON.stringify(hit.listName)}`);
  if (hit.explainJson !== undefined) {
    writer.ascii(',"explain":');
    writer.text(hit.explainJson);
  }
  writer.ascii('}');
}

/** Id shown for a damaged record whose id cannot be read. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Writes a hit whose record cannot be read, with the members that clients expect of any hit. `listName` is set on group
 * searches, `sharing` with one hit per value.
 */
export function writeDamaged(
  writer: ResponseWriter,
  { id = NO_ID, reason }: DamagedRecord,
  { listName, sharing }: { readonly listName?: string | undefined; readonly sharing?: number | undefined },
): void {
  const error = `The record is damaged on disk: ${reason}.`;
  // What is undefined is left out.
  writer.text(JSON.stringify({ id, name: id, distinct_count: sharing, fields: {}, list_name: listName, error }));
}

const DAMAGED_PAGE =
  ',"error":"The text of the page is damaged on disk; it is read again when somebody reads the document, or refreshes those of the list."';

function writeFiles(writer: ResponseWriter, { files = [], frame, imageScore = 0 }: HitMembers): void {
  let best: Pick<FileMembers, 'media' | 'score'> | undefined =
    frame === undefined ? undefined : { media: frame, score: imageScore };
  for (const file of files) {
    if (file.document !== undefined) writeDocument(writer, file.document);
    // Speech and frames share one member; the one with the higher score wins.
    if (file.media !== undefined && file.score > (best?.score ?? 0)) best = file;
  }
  if (best !== undefined) writer.text(`,"media":${JSON.stringify(best.media)}`);
}

function writeDocument(writer: ResponseWriter, { field, url, page, pageCount, highlight }: DocumentPage): void {
  writer.text(`,"document":{"field":${JSON.stringify(field)},"url":${JSON.stringify(url)}`);
  writer.ascii(`,"page":${page},"page_count":${pageCount}`);
  if (highlight === null) writer.ascii(DAMAGED_PAGE);
  else if (highlight !== undefined) {
    writer.ascii(',"highlight":');
    writer.bytes(highlight.bytes, highlight.begin, highlight.end);
  }
  writer.ascii('}');
}

/** Writes six significant digits: scores are single-precision, so more would be noise. */
function writeScore(writer: ResponseWriter, score: number): void {
  let scale = 1e6;
  for (let bound = 0.1; score < bound && scale < SCORE_SCALE_MAX; bound /= 10) scale *= 10;
  const digits = Math.round(score * scale);
  if (scale <= SHORT_SCALE_MAX && digits <= scale) writer.fraction(digits, scale);
  else writer.ascii(String(digits / scale));
}

/** Rounds metres to three decimals; coordinates are no more precise. */
function millimetres(metres: number): number {
  return Math.round(metres * 1000) / 1000;
}
