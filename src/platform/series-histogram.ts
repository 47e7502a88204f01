/**
 * A histogram with at most one label for a registry of prom-client, whose own looks its labels up and checks them at each observation.
 * Here that is done once a value of the label, and an observation is two additions: it is made for every request.
 */
export interface SeriesHistogramOptions {
  readonly name: string;
  readonly help: string;
  /** Undefined: one series without a label. */
  readonly label?: string;
  /** Upper bounds, rising. */
  readonly buckets: readonly number[];
}

/** One line of the text that a registry makes. */
interface ReadValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** The observations under one value of the label. */
class HistogramSeries {
  /** By bucket, not added up; the last is for what is above all bounds. */
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
    // Like the library's, it has its lines from the beginning.
    if (label === undefined) this.of();
  }

  /** To be kept by whoever observes. */
  of(labelValue = ''): HistogramSeries {
    let found = this.series.get(labelValue);
    if (found === undefined) this.series.set(labelValue, (found = new HistogramSeries(this.buckets)));
    return found;
  }

  /** As a registry asks for it. */
  get(): Promise<Pick<SeriesHistogram, 'name' | 'help' | 'type'> & { readonly values: readonly ReadValue[] }> {
    const { name, help, type } = this;
    const values = Array.from(this.series, ([labelValue, series]) => this.valuesOf(labelValue, series)).flat();
    return Promise.resolve({ name, help, type, values });
  }

  /** As a registry asks for it; series that are kept count on from nothing. */
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
