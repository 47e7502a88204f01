/** Records as lines of CSV (RFC 4180). */
import type { ExportedRecord } from './commands/export.js';

/** As a CSV brings vectors. */
export const VECTOR_COLUMN = '@vector';

export function csvHeading(columns: readonly string[], withVectors = false): string {
  return csvLine(['name', ...columns, ...(withVectors ? [VECTOR_COLUMN] : [])]);
}

export function csvRow(record: ExportedRecord, columns: readonly string[], withVectors = false): string {
  const { name, fields, vector, vectors } = record;
  const beside = withVectors ? [JSON.stringify(vector ?? vectors) ?? ''] : [];
  return csvLine([name, ...columns.map((column) => cellText(fields[column])), ...beside]);
}

/** As the import reads them: one value as it is (facets are arrays even of one), several as JSON, a point as `51.5,-0.12`. */
function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && value.length === 1) return cellText(value[0]);
  if (isPoint(value)) return `${value.latitude},${value.longitude}`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isPoint(value: unknown): value is { readonly latitude: number; readonly longitude: number } {
  return typeof value === 'object' && value !== null && 'latitude' in value && 'longitude' in value;
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\n`;
}

/** Also around what could be taken for another separator (records/csv-text.ts). */
function quoted(cell: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
