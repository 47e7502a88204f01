/** One record of `results`: fragments of the stored record and what the search adds, spliced without parsing. */
import type { TextKind } from '../../extracts/index.js';
import { fittingFields, leftOutMember, type DamagedRecord, type RecordParts } from '../../records/index.js';
import type { ResponseWriter } from './response-writer.js';

/** JSON as a part of bytes: of a record an object, of a page a string. */
export interface HighlightsJson {
  readonly bytes: Uint8Array;
  readonly begin: number;
  readonly end: number;
}

/** What a hit says of a file that it was found by. */
export interface FileMembers {
  readonly kind: TextKind;
  /** 0..1. */
  readonly score: number;
  /** The page of a document; undefined where the record links to no such document any more. */
  readonly document?: DocumentPage | undefined;
  /** The second of a recording; likewise. */
  readonly media?: MediaSecond | undefined;
}

/** Where in a recording, as it is answered. */
export interface MediaSecond {
  /** The resource field. */
  readonly field: string;
  readonly url: string;
  /** From the beginning. */
  readonly seconds: number;
  /** Absent where highlighting is off, and where nothing is marked. */
  readonly highlight?: string;
}

/** The best page. */
export interface DocumentPage {
  /** The resource field. */
  readonly field: string;
  readonly url: string;
  /** From 1. */
  readonly page: number;
  /** Of the whole document. */
  readonly pageCount: number;
  /** A JSON string; undefined where highlighting is off, and where nothing is marked; null where the page cannot be read. */
  readonly highlight: HighlightsJson | undefined | null;
}

export interface HitMembers {
  /** 0..1; undefined where the text played no part. */
  readonly textScore: number | undefined;
  /** The same of a picture. */
  readonly imageScore?: number | undefined;
  /** Where a video has the frame that was found as a picture is. */
  readonly frame?: MediaSecond | undefined;
  /** Where files did: one of a kind at most, in the order of the kinds. */
  readonly files?: readonly FileMembers[] | undefined;
  /** On a radius search: metres from its centre. */
  readonly distance: number | undefined;
  readonly location: { readonly latitude: number; readonly longitude: number } | undefined;
  /** Undefined where highlighting is off. */
  readonly highlights: HighlightsJson | undefined;
  /** On a group search. */
  readonly listName: string | undefined;
  readonly explainJson: string | undefined;
  /** Undefined: all fields. */
  readonly select: ReadonlySet<string> | undefined;
  /** Of the fields as JSON; undefined: all. */
  readonly fieldsBytesMax: number | undefined;
}

/** Six digits of a score of one in a million million. */
const SCORE_SCALE_MAX = 1e18;
/** Beyond this a fraction is left to the runtime. */
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

/** Of a hit whose record does not even tell its id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** A hit whose record cannot be read: of the same shape, so that who reads others can read it. `listName` as of these. */
export function writeDamaged(
  writer: ResponseWriter,
  { id = NO_ID, reason }: DamagedRecord,
  listName: string | undefined,
): void {
  const list = listName === undefined ? {} : { list_name: listName };
  writer.text(
    JSON.stringify({ id, name: id, fields: {}, ...list, error: `The record is damaged on disk: ${reason}.` }),
  );
}

const DAMAGED_PAGE =
  ',"error":"The text of the page is damaged on disk; it is read again when somebody reads the document, or refreshes those of the list."';

function writeFiles(writer: ResponseWriter, { files = [], frame, imageScore = 0 }: HitMembers): void {
  let best: Pick<FileMembers, 'media' | 'score'> | undefined =
    frame === undefined ? undefined : { media: frame, score: imageScore };
  for (const file of files) {
    if (file.document !== undefined) writeDocument(writer, file.document);
    // Of what is said and what is to be seen, that which was found more surely.
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

/** Six digits: scores are single-precision, more would be noise. */
function writeScore(writer: ResponseWriter, score: number): void {
  let scale = 1e6;
  for (let bound = 0.1; score < bound && scale < SCORE_SCALE_MAX; bound /= 10) scale *= 10;
  const digits = Math.round(score * scale);
  if (scale <= SHORT_SCALE_MAX && digits <= scale) writer.fraction(digits, scale);
  else writer.ascii(String(digits / scale));
}

/** Metres to three places: finer is beyond what coordinates hold. */
function millimetres(metres: number): number {
  return Math.round(metres * 1000) / 1000;
}
