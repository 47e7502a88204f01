/** What a field value means to columns: one rule for the write side and for the filter language. Pure functions; what dates were read lately is kept. */

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2}))?$/u;

/**
 * Milliseconds since 1970 of an ISO 8601 date (`2026-11-21`, midnight UTC) or date-time with a zone
 * (`2026-11-21T05:54:00Z`, `2026-11-21T05:54+01:00`); undefined for anything else, also for days that do not exist
 * and for moments that are not in the years 0000 to 9999 of UTC.
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
 * Dates that were read lately, each in the place that some of its digits lead to: a record's is read when it is checked and when it is
 * indexed, and records that come one after the other are often of one day.
 */
const KEPT_DATES = 256;
const keptTexts = new Array<string | undefined>(KEPT_DATES).fill(undefined);
const keptMs = new Float64Array(KEPT_DATES);

/** By the day, and by what a date-time ends in. */
function placeOf(text: string): number {
  const end = text.length;
  const day = text.charCodeAt(9) + 10 * text.charCodeAt(8) + 31 * text.charCodeAt(6);
  return (day + 7 * text.charCodeAt(end - 2) + 13 * text.charCodeAt(end - 4)) & (KEPT_DATES - 1);
}

/** What four digits of a year can say in UTC: a zone leads beyond it, and an answer could not name the moment so that a filter takes it. */
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

/** True for what is written as a number in decimal digits, however large. */
export function isNumber(text: string): boolean {
  return NUMBER.test(text);
}

/** The number that a text is; undefined for anything else; infinities are none. */
export function parseNumber(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/** An object with exactly the members `latitude` and `longitude`, both numbers; ranges are not checked. */
export function isPoint(value: unknown): value is Point {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { latitude, longitude } = value as Partial<Point>;
  return typeof latitude === 'number' && typeof longitude === 'number' && Object.keys(value).length === 2;
}
