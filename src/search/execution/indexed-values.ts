/**
 * Values that the columns of a list's index have of one record, for records that cannot be read: the kernel ordered and
 * counted them by these values.
 */
import type { Kernel } from '../../../native-bindings/index.js';
import { parseResult, QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import { foldFacetValue } from '../../platform/index.js';
import { singleColumn } from '../plan/plan-encoder.js';
import type { ListSearch } from './list-search.js';
import type { SortValue, ValueOf } from './sort-values.js';

export class IndexedValues {
  private readonly writer = new QueryPlanWriter();

  constructor(private readonly kernel: Pick<Kernel, 'search'>) {}

  /** Returns the values of a record of the search's list. */
  of(search: Pick<ListSearch, 'list' | 'generation'>, recordNumber: number): ValueOf {
    return (name) => this.value(search, recordNumber, name);
  }

  private value(
    { list: { layout }, generation }: Pick<ListSearch, 'list' | 'generation'>,
    recordNumber: number,
    name: string,
  ): SortValue {
    const column = singleColumn(name, layout);
    if (column === undefined) return undefined;
    const plan = this.writer.write({
      needTotal: true,
      storageOrder: true,
      skip: 0,
      size: 0,
      groups: [],
      filter: { op: 'record', numbers: [recordNumber] },
      sort: [],
      facets: [{ column, size: 1 }],
    });
    const counted = parseResult(this.kernel.search(generation, plan)).facetsJson;
    const [values = []] = Object.values(JSON.parse(counted === '' ? '{}' : counted) as Counted);
    const value = values[0]?.value;
    if (typeof value !== 'string') return value === undefined ? undefined : Number(value);
    return layout.schema.columns[column]?.type === 'date' ? Date.parse(value) : Buffer.from(foldFacetValue(value));
  }
}

type Counted = Readonly<Record<string, readonly { readonly value: string | number | boolean }[]>>;
