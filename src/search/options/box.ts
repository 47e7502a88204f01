/**
 * The `box` option: `"south,west,north,east"` or `{"south", "west", "north", "east"}`, which in a query string is JSON
 * text.
 */
import { ServiceError } from '../../platform/index.js';
import type { FilterNode } from '../filter/filter-nodes.js';
import { degreesOf, isJsonObject, numbersOf } from './coordinates.js';

const TEXT_LENGTH_MAX = 200;
const SIDES = ['south', 'west', 'north', 'east'] as const;
/** Maps that are moved across the antimeridian count on beyond 180 degrees. */
export const BOX_LONGITUDE_MAX = 360;

/** A rectangle of a map, in degrees. */
export interface BoxObject {
  readonly south: number;
  readonly west: number;
  readonly north: number;
  readonly east: number;
}

/** Returns the condition on records. Throws `invalid-parameter`, naming the part that is wrong. */
export function boxFilter(box: string | BoxObject): FilterNode {
  return typeof box === 'string' ? parseText(box) : checked(SIDES.map((side) => box[side]));
}

function parseText(text: string): FilterNode {
  if (isJsonObject(text)) {
    const numbers = numbersOf(text, SIDES);
    if (numbers === undefined) throw boxError('expected {"south", "west", "north", "east"}, all four numbers');
    return checked(numbers);
  }
  const parts = text.length > TEXT_LENGTH_MAX ? [] : text.split(',').map((part) => part.trim());
  if (parts.length !== SIDES.length) {
    throw boxError('expected south, west, north and east with commas between them, such as "51.3,-0.5,51.7,0.3"');
  }
  return checked(
    parts.map((part, index) => {
      const degrees = degreesOf(part);
      if (degrees === undefined) throw boxError(`${SIDES[index]} "${part}" is not a number of degrees`);
      return degrees;
    }),
  );
}

function checked(numbers: readonly number[]): FilterNode {
  const [south, west, north, east] = numbers as [number, number, number, number];
  for (const [side, latitude] of [
    ['south', south],
    ['north', north],
  ] as const) {
    if (!(Math.abs(latitude) <= 90)) throw boxError(`${side} has to be between -90 and 90 degrees`);
  }
  for (const [side, longitude] of [
    ['west', west],
    ['east', east],
  ] as const) {
    if (!(Math.abs(longitude) <= BOX_LONGITUDE_MAX)) {
      throw boxError(`${side} has to be between -${BOX_LONGITUDE_MAX} and ${BOX_LONGITUDE_MAX} degrees`);
    }
  }
  if (south > north) throw boxError('south has to be at most north: the order is south, west, north, east');
  return Object.freeze({ kind: 'in-box', south, west, north, east });
}

function boxError(message: string): ServiceError {
  const detail = `${message}.`;
  return new ServiceError('invalid-parameter', `box: ${detail}`, { errors: [{ parameter: 'box', detail }] });
}
