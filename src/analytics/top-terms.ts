/**
 * Finds the most frequent terms of many sorted lists, exactly and without adding up all of them: Three-Phase Uniform
 * Threshold (Cao and Wang, 2004). After the heads of all lists were added, some terms have a total of at least T. A
 * term that is below T / lists in every list has a total below T, so only the terms that reach this somewhere are
 * candidates.
 */
import type { TermList } from './term-list.js';
import { listPart, TermTable, type ListPart } from './term-table.js';

/** Terms at the head of each list that are added first. */
const HEAD_TERMS = 32;

export class TopTerms {
  /** Table of unsorted counts, which are added completely. */
  readonly table = new TermTable(Number.POSITIVE_INFINITY);
  private readonly sorted: ListPart[] = [];

  /** Adds a list that is sorted by descending count. */
  addSorted(list: TermList): void {
    this.sorted.push(listPart(list));
  }

  /** Returns the `max` most frequent terms, by descending count, then by their bytes. To be called once. */
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
