/** Equality, order and distance of values as documented. Nothing here uses code of the service. */
export type Scalar = string | number | boolean;
export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}
export type Value = Scalar | readonly Scalar[] | Point;
export type FacetType = 'string' | 'number' | 'boolean' | 'date';
export interface FacetDefinition {
  readonly name: string;
  readonly type: FacetType;
  readonly cardinality: 'Single' | 'Many';
}
export interface Definition {
  readonly searchable: readonly string[];
  readonly facets: readonly FacetDefinition[];
  readonly location: string | null;
}
/** Key by which values are compared. */
export type Key = string | number;

const EARTH_RADIUS_METRES = 6_371_008.8;

/** Folds case: texts that differ only in case have the same result. */
export function fold(text: string): string {
  return wellFormed(text).normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

/** Replaces lone surrogates by U+FFFD, as encoding to UTF-8 does. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}

/** Returns what a record has of a value: halves of surrogate pairs become U+FFFD. */
export function wellFormedValue(value: Value): Value {
  if (typeof value === 'string') return wellFormed(value);
  if (!Array.isArray(value)) return value;
  return (value as readonly Scalar[]).map((each) => (typeof each === 'string' ? wellFormed(each) : each));
}

export function keyOf(type: FacetType, value: Scalar): Key {
  if (type === 'string') return fold(String(value));
  // Adding 0 makes -0 equal to 0.
  if (type === 'number') return Number(value) + 0;
  if (type === 'boolean') return value === true ? 1 : 0;
  return instantOf(String(value));
}

/**
 * Returns milliseconds since 1970 for an ISO date or a date-time with a zone; digits after the milliseconds are cut.
 */
export function instantOf(text: string): number {
  const cut = text
    .toUpperCase()
    .replace(' ', 'T')
    .replace(/(\.\d{3})\d+/, '$1');
  const leap = cut.includes(':60');
  return Date.parse(leap ? cut.replace(':60', ':59') : cut) + (leap ? 1000 : 0);
}

/** Compares texts by code point, which is the byte order of UTF-8. */
export function compareKeys(left: Key, right: Key): number {
  if (typeof left === 'string' && typeof right === 'string')
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return Number(left) - Number(right) || Number(left > right) - Number(left < right);
}

export function metresBetween(from: Point, to: Point): number {
  const [a, b] = [radians(from.latitude), radians(to.latitude)];
  const half =
    Math.sin((b - a) / 2) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(radians(to.longitude - from.longitude) / 2) ** 2;
  return 2 * EARTH_RADIUS_METRES * Math.asin(Math.min(1, Math.sqrt(half)));
}

const radians = (degrees: number) => (degrees * Math.PI) / 180;

/** True if a client may write the value; recognizes only the notations of dates that sequences use. */
export function fits(facet: FacetDefinition, value: Value): boolean {
  const values = membersOf(value);
  if (isPoint(value) || (facet.cardinality === 'Single' && values.length > 1)) return false;
  return values.every((each) => fitsType(facet.type, each));
}

function fitsType(type: FacetType, value: Scalar): boolean {
  if (type !== 'date') return typeof value === type;
  return typeof value === 'string' && /^\d{4}-/.test(value) && !Number.isNaN(instantOf(value));
}

/** Converts a value when its field becomes a facet: by what its text says, if nothing is lost. */
export function converted(type: FacetType, value: Scalar): Scalar {
  if (fitsType(type, value)) return value;
  const text = String(value).trim();
  if (type === 'string') return String(value);
  if (type === 'boolean') return /^(true|1)$/i.test(text) ? true : /^(false|0)$/i.test(text) ? false : value;
  if (type !== 'number') return value;
  // Decimal numbers with no more digits than a double keeps; large ones must be in the shortest exponent notation.
  const isNumber = /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(text) || (/e[+-]/.test(text) && String(Number(text)) === text);
  return isNumber ? Number(text) : value;
}

/** Converts a word captured by a query rule to a value of a facet's type; undefined if it is none. */
export function capturedAs(type: FacetType, word: string): Scalar | undefined {
  if (type === 'boolean') return /^(true|false)$/.test(word) ? word === 'true' : undefined;
  const value = converted(type, word);
  return fitsType(type, value) ? value : undefined;
}

export function isPoint(value: Value | undefined): value is Point {
  return typeof value === 'object' && !Array.isArray(value);
}

export function membersOf(value: Value | undefined): readonly Scalar[] {
  if (value === undefined || isPoint(value)) return [];
  return Array.isArray(value) ? (value as readonly Scalar[]) : [value as Scalar];
}
