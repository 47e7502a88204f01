/** One record of `results`: fragments of the stored record and what the search adds, spliced without parsing. */
import type { RecordParts } from '../../records/index.js';
import type { ResponseWriter } from './response-writer.js';

export interface HitMembers {
  /** 0..1. */
  readonly score: number;
  /** On a radius search: metres from its centre. */
  readonly distance: number | undefined;
  readonly location: { readonly latitude: number; readonly longitude: number } | undefined;
  /** JSON object, or undefined where highlighting is off. */
  readonly highlightsJson: string | undefined;
  /** On a group search. */
  readonly listName: string | undefined;
  readonly explainJson: string | undefined;
  /** Undefined: all fields. */
  readonly select: ReadonlySet<string> | undefined;
}

/** Six digits of a score of one in a million million. */
const SCORE_SCALE_MAX = 1e18;

export function writeResult(writer: ResponseWriter, parts: RecordParts, hit: HitMembers): void {
  writer.ascii('{');
  writer.bytes(parts.head);
  writer.ascii(`,"@text_score":${significant(hit.score)}`);
  if (parts.asOf.length > 0) {
    writer.ascii(',');
    writer.bytes(parts.asOf);
  }
  if (hit.distance !== undefined) writer.ascii(`,"distance":${millimetres(hit.distance)}`);
  if (hit.location !== undefined) {
    writer.ascii(`,"location":{"latitude":${hit.location.latitude},"longitude":${hit.location.longitude}}`);
  }
  writer.ascii(',"fields":');
  if (hit.select === undefined) writer.bytes(parts.fields);
  else writer.text(selectFields(parts.fields, hit.select));
  if (hit.highlightsJson !== undefined) {
    writer.ascii(',"highlights":');
    writer.text(hit.highlightsJson);
  }
  if (hit.listName !== undefined) writer.text(`,"list_name":${JSON.stringify(hit.listName)}`);
  if (hit.explainJson !== undefined) {
    writer.ascii(',"explain":');
    writer.text(hit.explainJson);
  }
  writer.ascii('}');
}

/** Six digits: scores are single-precision, more would be noise. Several times as fast as `toPrecision`. */
function significant(score: number): number {
  let scale = 1e6;
  for (let bound = 0.1; score < bound && scale < SCORE_SCALE_MAX; bound /= 10) scale *= 10;
  return Math.round(score * scale) / scale;
}

/** Metres to three places: finer is beyond what coordinates hold. */
function millimetres(metres: number): number {
  return Math.round(metres * 1000) / 1000;
}

/** The selected members in the record's own order; a name that the record lacks is absent. */
function selectFields(fields: Uint8Array, select: ReadonlySet<string>): string {
  if (select.size === 0) return '{}';
  const text = Buffer.from(fields.buffer, fields.byteOffset, fields.byteLength).toString();
  const members = Object.entries(JSON.parse(text) as Record<string, unknown>)
    .filter(([name]) => select.has(name))
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{${members.join(',')}}`;
}
