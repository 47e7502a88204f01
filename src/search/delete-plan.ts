/** Plan of a deletion by filter, for `ListIndex.deleteMatching`. */
import { QueryPlanWriter } from '../../native-bindings/query-plan.js';
import type { FieldDefinition } from '../catalog/index.js';
import { kernelLayout } from '../index/segments/kernel-layout.js';
import { parseFilter } from './filter/filter-resolver.js';
import { encodeFilterPlan } from './plan/plan-encoder.js';

/**
 * Returns the encoded plan. Throws `invalid-filter`, also for a blank filter, so that leaving the filter out never
 * deletes everything.
 */
export function filterPlan(filterText: string, definition: FieldDefinition): Uint8Array {
  const filter = parseFilter(filterText, definition);
  return Uint8Array.from(new QueryPlanWriter().write(encodeFilterPlan(filter, kernelLayout(definition))));
}
