/**
 * Returns the definition for writing records. A list whose definition is still to be inferred gets it from its first
 * records.
 */
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
