/**
 * The `radius` option: `"51.5,-0.12,10km"` or `{"latitude", "longitude", "distance"}`, which in a query string is JSON
 * text.
 */
import { ServiceError } from '../../platform/index.js';
import type { RadiusOption, SearchOptions } from '../types.js';
import { degreesOf, isJsonObject, numbersOf } from './coordinates.js';

const METRES_OF_UNIT: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['m', 1],
  ['km', 1000],
  ['mi', 1609.344],
]);
const TEXT_LENGTH_MAX = 200;
const DISTANCE = /^((?:\d+(?:\.\d+)?|\.\d+)(?:e-\d{1,3})?)\s*([a-z]*)$/i;

/** Parses the option into WGS84 degrees and metres. Throws `invalid-parameter`, naming the part that is wrong. */
export function parseRadius(radius: NonNullable<SearchOptions['radius']>): RadiusOption {
  if (typeof radius === 'string') return parseText(radius);
  return checked(radius.latitude, radius.longitude, radius.distance);
}

function parseText(text: string): RadiusOption {
  if (isJsonObject(text)) return parseJson(text);
  const parts = text.length > TEXT_LENGTH_MAX ? [] : text.split(',').map((part) => part.trim());
  if (parts.length !== 3) {
    throw radiusError('expected latitude, longitude and distance with commas between them, such as "51.5,-0.12,10km"');
  }
  const [latitude, longitude, distance] = parts as [string, string, string];
  const matched = DISTANCE.exec(distance);
  const metres = matched === null ? undefined : METRES_OF_UNIT.get((matched[2] as string).toLowerCase());
  if (matched === null || metres === undefined) {
    throw radiusError(`the distance "${distance}" is not a number with m, km, mi or no unit (metres) behind it`);
  }
  return checked(coordinate('latitude', latitude), coordinate('longitude', longitude), Number(matched[1]) * metres);
}

function parseJson(text: string): RadiusOption {
  const numbers = numbersOf(text, ['latitude', 'longitude', 'distance']);
  if (numbers !== undefined) return checked(...(numbers as [number, number, number]));
  throw radiusError('expected {"latitude", "longitude", "distance"}, all three numbers, the distance in metres');
}

function coordinate(what: string, text: string): number {
  const degrees = degreesOf(text);
  if (degrees === undefined) throw radiusError(`the ${what} "${text}" is not a number of degrees`);
  return degrees;
}

function checked(latitude: number, longitude: number, metres: number): RadiusOption {
  if (!(Math.abs(latitude) <= 90)) throw radiusError('the latitude has to be between -90 and 90 degrees');
  if (!(Math.abs(longitude) <= 180)) throw radiusError('the longitude has to be between -180 and 180 degrees');
  if (!(metres >= 0) || !Number.isFinite(metres)) throw radiusError('the distance has to be 0 or more');
  return Object.freeze({ latitude, longitude, metres });
}

function radiusError(message: string): ServiceError {
  const detail = `${message}.`;
  return new ServiceError('invalid-parameter', `radius: ${detail}`, { errors: [{ parameter: 'radius', detail }] });
}
