import { describe, expect, it } from 'vitest';
import { cityRecord, cityRecords } from './cities.js';
import { toNdjson } from './demo-list.js';

it("cityRecord makes a record with the country's name and a point", () => {
  const city = {
    cityId: 2643743,
    name: 'London',
    country: 'GB',
    featureCode: 'PPLC',
    adminCode: 'ENG',
    population: 8_961_989,
    loc: { coordinates: [-0.12574, 51.50853] as const },
  };
  expect(cityRecord(city)).toEqual({
    name: 'London, GB (2643743)',
    fields: {
      city: 'London',
      country: 'United Kingdom',
      country_code: 'GB',
      admin_code: 'ENG',
      feature_code: 'PPLC',
      population: 8_961_989,
      location: { latitude: 51.50853, longitude: -0.12574 },
    },
  });
});

describe('all cities', async () => {
  const records = await cityRecords();

  it('have unique names and points on the globe', () => {
    expect(records.length).toBeGreaterThan(130_000);
    expect(new Set(records.map(({ name }) => name)).size).toBe(records.length);
    const outside = records.filter(({ fields }) => {
      const { latitude, longitude } = fields['location'] as { latitude: number; longitude: number };
      return Math.abs(latitude) > 90 || Math.abs(longitude) > 180;
    });
    expect(outside).toEqual([]);
  });

  it('are sent as NDJSON, and counted meanwhile', async () => {
    const counts: number[] = [];
    let text = '';
    for await (const chunk of toNdjson(records.slice(0, 1000), (count) => counts.push(count))) {
      text += Buffer.from(chunk).toString('utf8');
    }
    expect(text.trimEnd().split('\n')).toHaveLength(1000);
    expect(counts.at(-1)).toBe(1000);
  });
});
