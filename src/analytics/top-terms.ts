/**
 * The most frequent terms of many sorted lists, exactly and without adding all of them up: Three-Phase Uniform Threshold (Cao and Wang,
 * 2004). With a first look at the head of each list, some terms have at least T together. A term that is below T / lists in every list
 * stays below T, so that of the rest only terms count that reached this somewhere.
 */
import type { TermList } from './term-list.js';
import { listPart, TermTable, type ListPart } from './term-table.js';

/** Terms of each list that are looked at first. */
const HEAD_TERMS = 32;

export class TopTerms {
  /** Unsorted counts go here, all of them. */
  readonly table = new TermTable(Number.POSITIVE_INFINITY);
  private readonly sorted: ListPart[] = [];

  /** By falling count. */
  addSorted(list: TermList): void {
    this.sorted.push(listPart(list));
  }

  /** The `max` most frequent of all, by falling count, then by their bytes. Call it once. */
  top(max: number): { readonly term: string; readonly count: number }[] {
    const { table, sorted } = this;
    for (const part of sorted) table.addPart(part, Math.min(HEAD_TERMS, part.list.length));
    const reached = table.top(max)[max - 1]?.count ?? 0;
    const countMin = reached / sorted.length;
    for (const part of sorted) table.addPart(part, part.list.length, countMin);
    for (const part of sorted) table.addKnown(part);
    return table.top(max);
  }
}
