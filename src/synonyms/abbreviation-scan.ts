/**
 * Reads a list's records for abbreviations in steps of a few milliseconds, so that scans of several lists proceed in
 * parallel.
 */
import type { GenerationHandle, Kernel } from '../../native-bindings/index.js';
import type { GenerationSettings } from '../index/index.js';
import { decodeRecord, parseFields, type FieldValue, type RecordStoreCache } from '../records/index.js';
import { findDefinitions, type Definition } from './abbreviations.js';
import { CandidateCollector, type SenseCount } from './candidate-collector.js';

const STEP_RECORDS_MAX = 1000;
/** A step ends with the record that reaches this limit. */
const STEP_TEXT_CHARACTERS_MAX = 1_000_000;

export interface AbbreviationTask {
  readonly generation: GenerationHandle;
  /** Reads records after this number; -1 starts with the first. */
  readonly afterRecord: number;
}

export interface AbbreviationStep {
  readonly counts: readonly SenseCount[];
  /** Last record that was read. Null if there are no more. */
  readonly lastRecord: number | null;
}

export function scanAbbreviations(kernel: Kernel, stores: RecordStoreCache, task: AbbreviationTask): AbbreviationStep {
  const settings = JSON.parse(kernel.generationSettings(task.generation)) as GenerationSettings;
  const records = stores.get(settings.listPath).version(settings.version);
  const fields = settings.definition.searchable_fields.map(({ name }) => name);
  const collector = new CandidateCollector();
  let [recordCount, characters, lastRecord] = [0, 0, -1];
  for (const { key, value } of records.range({ start: task.afterRecord + 1, limit: STEP_RECORDS_MAX })) {
    const { name, fieldsJson } = decodeRecord(value);
    recordCount += 1;
    lastRecord = key;
    characters += fieldsJson.length;
    if (fieldsJson.includes('(') || fieldsJson.includes('[')) {
      const definitions = definitionsOf(fields, name, parseFields(fieldsJson));
      if (definitions.length > 0) collector.addRecord(name, definitions);
    }
    if (characters >= STEP_TEXT_CHARACTERS_MAX) return { counts: collector.counts(), lastRecord };
  }
  return { counts: collector.counts(), lastRecord: recordCount < STEP_RECORDS_MAX ? null : lastRecord };
}

function definitionsOf(
  fields: readonly string[],
  name: string,
  values: Readonly<Record<string, FieldValue>>,
): Definition[] {
  return fields.flatMap((field) => textsOf(field === 'name' ? name : values[field]).flatMap(findDefinitions));
}

function textsOf(value: FieldValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
