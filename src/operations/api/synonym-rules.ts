/** Synonym rules as clients give them: checked, and in the form in which they are kept. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { kernel } from '../../../native-bindings/index.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import type { ListRecord } from '../../catalog/index.js';
import { ERROR_PLACES_MAX, type ErrorPlace } from '../../platform/index.js';
import type { SynonymRule } from '../../search/index.js';
import { keptRule, synonymRuleFaults, synonymRulesExcess } from '../../synonyms/index.js';
import { throwFaults } from '../dispatch/validation.js';

/** So long others wait; a hundred thousand terms are checked in more than a second. */
const SLICE_MS = 10;

/** Rejects with `invalid-parameter` that names every fault by its place. `pointer` is that of the array; `stored`: has the rules of the list. */
export async function checkedSynonymRules(
  rules: readonly SynonymRule[],
  pointer: string,
  stored?: Pick<ListRecord, 'synonym_rules'>,
): Promise<readonly SynonymRule[]> {
  // An older release may have taken what is too much for this one; it can be sent back all the same.
  if (stored !== undefined && isDeepStrictEqual(rules, stored.synonym_rules)) return rules;
  const excess = synonymRulesExcess(rules, stored?.synonym_rules as readonly SynonymRule[] | undefined);
  if (excess !== undefined) throwFaults([{ pointer, detail: excess }]);
  const faults: ErrorPlace[] = [];
  let sliceEndsMs = performance.now() + SLICE_MS;
  for (const [index, rule] of rules.entries()) {
    faults.push(...synonymRuleFaults(rule, `${pointer}/${index}`, synonymWords));
    if (faults.length >= ERROR_PLACES_MAX) break;
    if (performance.now() < sliceEndsMs) continue;
    await nextTurn();
    sliceEndsMs = performance.now() + SLICE_MS;
  }
  throwFaults(faults);
  return rules.map(keptRule);
}

/** The same for one rule; its own members are at `/terms` and `/replace_with`. */
export function checkedSynonymRule(rule: SynonymRule): SynonymRule {
  throwFaults(synonymRuleFaults(rule, '', synonymWords));
  return keptRule(rule);
}

/** Folded words of a text, as records have them. */
export function synonymWords(text: string): readonly string[] {
  return kernel.analyse(segmentForKernel(text)).map(({ term }) => term);
}
