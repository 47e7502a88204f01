/**
 * Interprets field values for columns, in the same way for writes and for the filter language. Pure functions, with a
 * cache of recent dates.
 */

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2}))?$/u;

/**
 * Returns the milliseconds since 1970 of an ISO 8601 date (`2026-11-21`, midnight UTC) or date-time with a zone
 * (`2026-11-21T05:54:00Z`, `2026-11-21T05:54+01:00`). Undefined for anything else, including days that do not exist and
 * moments outside the years 0000 to 9999 in UTC.
 */
export function parseDate(text: string): number | undefined {
  const place = placeOf(text);
  if (keptTexts[place] === text) return keptMs[place];
  const milliseconds = readDate(text);
  if (milliseconds !== undefined) {
    keptTexts[place] = text;
    keptMs[place] = milliseconds;
  }
  return milliseconds;
}

/**
 * Direct-mapped cache of dates: a record's date is read when the record is validated and when it is indexed, and
 * consecutive records often have the same day.
 */
const KEPT_DATES = 256;
const keptTexts = new Array<string | undefined>(KEPT_DATES).fill(undefined);
const keptMs = new Float64Array(KEPT_DATES);

/** Returns the slot of a date, by its day and the end of a date-time. */
function placeOf(text: string): number {
  const end = text.length;
  const day = text.charCodeAt(9) + 10 * text.charCodeAt(8) + 31 * text.charCodeAt(6);
  return (day + 7 * text.charCodeAt(end - 2) + 13 * text.charCodeAt(end - 4)) & (KEPT_DATES - 1);
}

/**
 * Range of four-digit years in UTC. A zone may lead beyond it; an answer could then not show the moment in a form that
 * filters accept.
 */
const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

function readDate(text: string): number | undefined {
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, day);
  if (midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== day) return undefined;
  const zone = match[8];
  if (zone === undefined) return midnight.getTime();

  const [hours, minutes, seconds] = [Number(match[4]), Number(match[5]), Number(match[6] ?? 0)];
  if (hours > 23 || minutes > 59 || seconds > 60) return undefined;
  const milliseconds = Math.floor(Number(`0.${match[7] ?? '0'}`) * 1000 + 1e-6);
  const offsetMinutes = zoneOffsetMinutes(zone);
  if (offsetMinutes === undefined) return undefined;
  const time = midnight.getTime() + ((hours * 60 + minutes - offsetMinutes) * 60 + seconds) * 1000 + milliseconds;
  return time >= FIRST_MS && time <= LAST_MS ? time : undefined;
}

function zoneOffsetMinutes(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** True for a number in decimal digits, however large. */
export function isNumber(text: string): boolean {
  return NUMBER.test(text);
}

/** Returns the number in a text. Undefined for anything else, including numbers that overflow to infinity. */
export function parseNumber(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/** True for an object with exactly the members `latitude` and `longitude`, both numbers. Ranges are not checked. */
export function isPoint(value: unknown): value is Point {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { latitude, longitude } = value as Partial<Point>;
  return typeof latitude === 'number' && typeof longitude === 'number' && Object.keys(value).length === 2;
}
