/** What the documents say of values: which are equal, which comes first, and where a point lies. Nothing here is taken from the service. */
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
/** What a value is compared by. */
export type Key = string | number;

const EARTH_RADIUS_METRES = 6_371_008.8;

/** Two texts that differ in case alone have the same. */
export function fold(text: string): string {
  return wellFormed(text).normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

/** As UTF-8 has it: what is half of a pair is U+FFFD. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}

export function keyOf(type: FacetType, value: Scalar): Key {
  if (type === 'string') return fold(String(value));
  // A number and its negative zero are the same.
  if (type === 'number') return Number(value) + 0;
  if (type === 'boolean') return value === true ? 1 : 0;
  return instantOf(String(value));
}

/** Milliseconds since 1970 of an ISO date, or of a date-time with a zone; digits behind the milliseconds are cut. */
export function instantOf(text: string): number {
  const cut = text
    .toUpperCase()
    .replace(' ', 'T')
    .replace(/(\.\d{3})\d+/, '$1');
  const leap = cut.includes(':60');
  return Date.parse(leap ? cut.replace(':60', ':59') : cut) + (leap ? 1000 : 0);
}

/** Texts by their code points, which is how UTF-8 orders them. */
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

/** Whether a client may write it; dates are recognised as far as the sequences write them. */
export function fits(facet: FacetDefinition, value: Value): boolean {
  const values = membersOf(value);
  if (isPoint(value) || (facet.cardinality === 'Single' && values.length > 1)) return false;
  return values.every((each) => fitsType(facet.type, each));
}

function fitsType(type: FacetType, value: Scalar): boolean {
  if (type !== 'date') return typeof value === type;
  return typeof value === 'string' && /^\d{4}-/.test(value) && !Number.isNaN(instantOf(value));
}

/** What a value is where a field becomes a facet: what its text says, where nothing is lost by that. */
export function converted(type: FacetType, value: Scalar): Scalar {
  if (fitsType(type, value)) return value;
  const text = String(value).trim();
  if (type === 'string') return String(value);
  if (type === 'boolean') return /^(true|1)$/i.test(text) ? true : /^(false|0)$/i.test(text) ? false : value;
  if (type !== 'number') return value;
  // As numbers are written, with no more digits than they keep; a large one is written with its power of ten.
  const isNumber = /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(text) || (/e[+-]/.test(text) && String(Number(text)) === text);
  return isNumber ? Number(text) : value;
}

/** What a query rule captured, as a value of a facet; undefined where it is none. */
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
