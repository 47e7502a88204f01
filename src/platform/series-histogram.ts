/**
 * A histogram with at most one label for prom-client's registry. prom-client's own histogram looks up and checks labels
 * at each observation; here this is done once per label value, and an observation is two additions, since every request
 * makes one.
 */
export interface SeriesHistogramOptions {
  readonly name: string;
  readonly help: string;
  /** Undefined: one series without a label. */
  readonly label?: string;
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

/** One line of the registry's text. */
interface ReadValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** The observations with one label value. */
class HistogramSeries {
  /** Counts by bucket, not cumulative; the last is for values above all bounds. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(private readonly buckets: readonly number[]) {
    this.counts = new Float64Array(buckets.length + 1);
  }

  observe(value: number): void {
    const { buckets, counts } = this;
    let bucket = 0;
    while (bucket < buckets.length && value > (buckets[bucket] as number)) ++bucket;
    counts[bucket] = (counts[bucket] as number) + 1;
    this.sum += value;
  }
}

export class SeriesHistogram {
  readonly type = 'histogram';
  readonly name: string;
  readonly help: string;
  private readonly label: string | undefined;
  private readonly buckets: readonly number[];
  private readonly series = new Map<string, HistogramSeries>();

  constructor({ name, help, label, buckets }: SeriesHistogramOptions) {
    this.name = name;
    this.help = help;
    this.label = label;
    this.buckets = buckets;
    // Like prom-client's, an unlabelled histogram has its lines from the start.
    if (label === undefined) this.of();
  }

  /** Returns the series of a label value; callers should keep it. */
  of(labelValue = ''): HistogramSeries {
    let found = this.series.get(labelValue);
    if (found === undefined) this.series.set(labelValue, (found = new HistogramSeries(this.buckets)));
    return found;
  }

  /** Called by the registry. Returns the values of all series. */
  get(): Promise<Pick<SeriesHistogram, 'name' | 'help' | 'type'> & { readonly values: readonly ReadValue[] }> {
    const { name, help, type } = this;
    const values = Array.from(this.series, ([labelValue, series]) => this.valuesOf(labelValue, series)).flat();
    return Promise.resolve({ name, help, type, values });
  }

  /** Called by the registry. Series that callers have kept start again from zero. */
  reset(): void {
    for (const series of this.series.values()) {
      series.counts.fill(0);
      series.sum = 0;
    }
  }

  private valuesOf(labelValue: string, { counts, sum }: HistogramSeries): ReadValue[] {
    const labels = this.label === undefined ? {} : { [this.label]: labelValue };
    let count = 0;
    const byBucket = [...this.buckets, '+Inf'].map((le, bucket) => {
      count += counts[bucket] as number;
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...byBucket,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
