/** Validates synonym rules from clients, and converts them to the stored form. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { kernel } from '../../../native-bindings/index.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import type { ListRecord } from '../../catalog/index.js';
import { ERROR_PLACES_MAX, type ErrorPlace } from '../../platform/index.js';
import type { SynonymRule } from '../../search/index.js';
import { keptRule, ruleWord, synonymRuleFaults, synonymRulesExcess } from '../../synonyms/index.js';
import { throwFaults } from '../dispatch/validation.js';

/** Longest blocking of the event loop: checking a hundred thousand terms takes more than a second. */
const SLICE_MS = 10;

/**
 * Rejects with `invalid-parameter` naming every fault by its place. `pointer` is that of the array; `stored` has the
 * list's current rules.
 */
export async function checkedSynonymRules(
  rules: readonly SynonymRule[],
  pointer: string,
  stored?: Pick<ListRecord, 'synonym_rules'>,
): Promise<readonly SynonymRule[]> {
  // Unchanged rules are accepted, since an earlier release may have allowed more.
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

/** Checks one rule; its members are at `/terms` and `/replace_with`. */
export function checkedSynonymRule(rule: SynonymRule): SynonymRule {
  throwFaults(synonymRuleFaults(rule, '', synonymWords));
  return keptRule(rule);
}

/** Returns the folded words of a text, as in records. */
export function synonymWords(text: string): readonly string[] {
  return kernel.analyse(segmentForKernel(text)).map(ruleWord);
}
