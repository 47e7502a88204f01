/**
 * Compiles query rules for one field definition, and applies them to a query. Rules apply in order, each to what
 * earlier ones left of the query. Only the first match of a pattern counts.
 */
import { RE2JS } from 're2js';
import type { Facet, FieldDefinition } from '../../catalog/index.js';
import { ServiceError, type ErrorPlace } from '../../platform/index.js';
import { allOf, FILTER_ALL, type FilterNode, type SyntaxNode } from '../filter/filter-nodes.js';
import { parseFilterTemplate } from '../filter/filter-parser.js';
import { facetsByName, RECORD_FIELDS, resolveFilter } from '../filter/filter-resolver.js';
import { bindCaptures, capturesOf, type Captures } from './filter-template.js';
import {
  RULE_INSTRUCTIONS_MAX,
  RULE_TEXT_CHARACTERS_MAX,
  RULES_FILTER_CHARACTERS_MAX,
  RULES_INSTRUCTIONS_MAX,
  type QueryRule,
} from './query-rule.js';

export interface CompiledQueryRule {
  readonly name: string;
  readonly pattern: RE2JS;
  readonly filter: SyntaxNode;
  readonly definition: FieldDefinition;
  readonly keep: boolean;
}

export interface RuledQuery {
  /** What is left to search for. If empty, everything that the filter matches. */
  readonly query: string;
  readonly filter: FilterNode;
  /** Names of the rules that applied. */
  readonly applied: readonly string[];
}

/**
 * Compiles all rules. Throws `invalid-parameter` naming every fault, with pointers below `/query_rules`. `stored` has
 * the list's current rules, which may exceed the limits because earlier releases allowed more; they may then be reduced
 * gradually.
 */
export function compileQueryRules(
  rules: readonly QueryRule[],
  definition: FieldDefinition,
  stored: readonly QueryRule[] = [],
): readonly CompiledQueryRule[] {
  const pointer = '/query_rules';
  const characters = filterCharacters(rules);
  if (characters > Math.max(RULES_FILTER_CHARACTERS_MAX, filterCharacters(stored))) {
    const detail = `The filters of all rules together have ${characters} characters; at most ${RULES_FILTER_CHARACTERS_MAX} are allowed.`;
    throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer, detail }] });
  }
  const faults: ErrorPlace[] = [];
  const compiled = rules.flatMap((rule, index) => {
    const result = brokenText(rule) ?? compileRule(rule, definition);
    if (!('member' in result)) return [result];
    const { member, detail } = result;
    faults.push({ pointer: `${pointer}/${index}/${member}`, detail });
    return [];
  });
  const [first] = faults;
  if (first !== undefined) throw new ServiceError('invalid-parameter', first.detail, { errors: faults });
  const instructions = instructionsOf(compiled);
  if (instructions > RULES_INSTRUCTIONS_MAX && instructions > instructionsOf(usableQueryRules(stored, definition))) {
    const detail = `The patterns of all rules together compile to ${instructions} instructions; at most ${RULES_INSTRUCTIONS_MAX} are allowed. Large repetitions cost most.`;
    throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer, detail }] });
  }
  return compiled;
}

/**
 * Compiles the rules that fit the definition. Others, such as those with a facet that a version lacks, have no effect.
 */
export function usableQueryRules(rules: readonly QueryRule[], definition: FieldDefinition): CompiledQueryRule[] {
  return rules.flatMap((rule) => {
    const result = compileRule(rule, definition);
    return 'member' in result ? [] : [result];
  });
}

function filterCharacters(rules: readonly QueryRule[]): number {
  return rules.reduce((sum, { filter }) => sum + filter.length, 0);
}

function instructionsOf(rules: readonly CompiledQueryRule[]): number {
  return rules.reduce((sum, { pattern }) => sum + pattern.programSize(), 0);
}

interface RuleFault {
  readonly member: 'name' | 'pattern' | 'filter';
  readonly detail: string;
}

/** Returns the fault of a text with half of a surrogate pair: stored, it would become another text. */
function brokenText(rule: QueryRule): RuleFault | undefined {
  const member = (['name', 'pattern', 'filter'] as const).find((each) => !rule[each].isWellFormed());
  return member === undefined ? undefined : { member, detail: `The ${member} of a rule is well-formed Unicode.` };
}

function compileRule(rule: QueryRule, definition: FieldDefinition): CompiledQueryRule | RuleFault {
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(rule.pattern, RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    return { member: 'pattern', detail: `The pattern is not a valid RE2 expression: ${messageOf(error)}` };
  }
  const instructions = pattern.programSize();
  if (instructions > RULE_INSTRUCTIONS_MAX) {
    const detail = `The pattern compiles to ${instructions} instructions; at most ${RULE_INSTRUCTIONS_MAX} are allowed. Large repetitions cost most.`;
    return { member: 'pattern', detail };
  }
  try {
    const filter = parseFilterTemplate(rule.filter);
    const unknown = capturesOf(filter).find(({ group }) => !hasGroup(pattern, group));
    if (unknown !== undefined) {
      const { group, at } = unknown;
      return { member: 'filter', detail: `At position ${at}: the pattern has no group ${JSON.stringify(group)}.` };
    }
    resolveFilter(filter, definition);
    return { name: rule.name, pattern, filter, definition, keep: rule.keep ?? false };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { member: 'filter', detail: error.errors?.[0]?.detail ?? error.detail };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const NUMBER = /^\d+$/;

function hasGroup(pattern: RE2JS, group: string): boolean {
  return NUMBER.test(group) ? Number(group) <= pattern.groupCount() : Object.hasOwn(pattern.namedGroups(), group);
}

function without(query: string, begin: number, end: number): string {
  return `${query.slice(0, begin).trimEnd()} ${query.slice(end).trimStart()}`.trim();
}

/** Returns the facets and what every record has, as filters resolve them: a facet goes before a member of records of its name. */
function filterableByName(definition: FieldDefinition): ReadonlyMap<string, Facet> {
  return new Map([...RECORD_FIELDS, ...facetsByName(definition)]);
}

export function applyQueryRules(rules: readonly CompiledQueryRule[], query: string): RuledQuery {
  if (rules.length === 0 || query === '') return { query, filter: FILTER_ALL, applied: [] };
  let left = query;
  const filters: FilterNode[] = [];
  const applied: string[] = [];
  for (const rule of rules) {
    const matcher = rule.pattern.matcher(left.slice(0, RULE_TEXT_CHARACTERS_MAX));
    if (!matcher.find()) continue;
    const captures: Captures = (group) => matcher.group(NUMBER.test(group) ? Number(group) : group) ?? undefined;
    const bound = bindCaptures(rule.filter, captures, filterableByName(rule.definition));
    if (bound === undefined) continue;
    filters.push(resolveFilter(bound, rule.definition));
    applied.push(rule.name);
    if (!rule.keep) left = without(left, matcher.start(), matcher.end());
    if (left === '') break;
  }
  return { query: left, filter: allOf(filters), applied };
}
