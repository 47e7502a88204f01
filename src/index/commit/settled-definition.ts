/** The definition that records are written by: a list whose first records are just coming gets its own from these. */
import type { FieldDefinition } from '../../catalog/index.js';
import { inferDefinition, type InferenceSample } from '../../records/index.js';

export function settledDefinition(
  definition: FieldDefinition,
  samples: () => readonly InferenceSample[],
): FieldDefinition {
  if (definition.inferred !== 'pending') return definition;
  const records = samples();
  if (records.length === 0) return definition;
  return { ...definition, ...inferDefinition(records) };
}
