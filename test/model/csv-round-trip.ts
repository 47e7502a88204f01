/** Predicts what records look like after an export to CSV and an import of it (docs/decisions/0354). */
import { csvHeading, csvRow, type CsvColumn } from '../../src/cli/export-csv.js';
import type { ModelRecord, ReferenceList } from './reference-list.js';
import { isPoint, membersOf, wellFormed, type Value } from './reference-values.js';

type Listed = readonly { readonly name: string; readonly fields: Readonly<Record<string, Value>> }[];

export function columnsOf({ definition: { searchable, facets, location } }: ReferenceList): CsvColumn[] {
  const names = [...searchable, ...facets.map(({ name }) => name), ...(location === null ? [] : [location])];
  return [...new Set(names)]
    .filter((name) => name !== 'name')
    .map((name) => {
      const facet = facets.find((each) => each.name === name);
      const holds = facet?.cardinality === 'Single' ? 'one' : facet === undefined ? 'text' : 'several';
      return { name, holds: name === location ? 'point' : holds };
    });
}

export function csvOf(records: Listed, columns: readonly CsvColumn[]): string {
  return csvHeading(columns) + records.map((record) => csvRow(record, columns)).join('');
}

/** Returns the fields of a record without what CSV cannot represent. */
export function broughtBack({ fields }: ModelRecord, columns: readonly CsvColumn[]): Record<string, Value> {
  const kept = columns.flatMap(({ name, holds }): [string, Value][] => {
    const value = fields.get(name);
    if (value === undefined) return [];
    if (holds === 'several' || isPoint(value)) return [[name, value]];
    const [first, ...others] = membersOf(value);
    if (first === '' && others.length === 0) return [];
    if (holds === 'one') return [[name, typeof first === 'string' ? [wellFormed(first)] : value]];
    return [[name, others.length === 0 ? wellFormed(String(first)) : JSON.stringify(value)]];
  });
  return Object.fromEntries(kept);
}
