import fc from 'fast-check';
import { Histogram, Registry, type Metric } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { SeriesHistogram } from './series-histogram.js';

const OPTIONS = { name: 'request_seconds', help: 'Time of a request', buckets: [0.001, 0.01, 0.1, 1] };

function ours(): { histogram: SeriesHistogram; text: () => Promise<string> } {
  const histogram = new SeriesHistogram({ ...OPTIONS, label: 'operation' });
  const registry = new Registry();
  registry.registerMetric(histogram as unknown as Metric);
  return { histogram, text: () => registry.metrics() };
}

describe('SeriesHistogram', () => {
  it('prints the same text as the histogram of the library', async () => {
    const value = fc.oneof(fc.double({ min: 0, max: 3, noNaN: true }), fc.constantFrom(...OPTIONS.buckets, 0));
    const observations = fc.array(fc.tuple(fc.constantFrom('search', 'list "x"\\', 'none'), value));
    await fc.assert(
      fc.asyncProperty(observations, async (observed) => {
        const registry = new Registry();
        const library = new Histogram({ ...OPTIONS, labelNames: ['operation'], registers: [registry] });
        const { histogram, text } = ours();
        for (const [operation, seconds] of observed) {
          library.labels(operation).observe(seconds);
          histogram.of(operation).observe(seconds);
        }
        expect(await text()).toBe(await registry.metrics());
      }),
    );
  });

  it('prints the same text as the histogram of the library without a label, too', async () => {
    const registries = [new Registry(), new Registry()] as const;
    const library = new Histogram({ ...OPTIONS, registers: [registries[0]] });
    const histogram = new SeriesHistogram(OPTIONS);
    registries[1].registerMetric(histogram as unknown as Metric);
    expect(await registries[1].metrics()).toBe(await registries[0].metrics());
    for (const seconds of [0.002, 0.5, 3]) {
      library.observe(seconds);
      histogram.of().observe(seconds);
    }
    expect(await registries[1].metrics()).toBe(await registries[0].metrics());
  });

  it('has one series for each value of the label', () => {
    const { histogram } = ours();
    expect(histogram.of('a')).toBe(histogram.of('a'));
    expect(histogram.of('a')).not.toBe(histogram.of('b'));
  });

  it('counts from zero after a reset, even in series that the caller still holds', async () => {
    const { histogram, text } = ours();
    const series = histogram.of('search');
    series.observe(0.5);
    histogram.reset();
    series.observe(0.05);
    expect(await text()).toContain('request_seconds_count{operation="search"} 1');
    expect(await text()).toContain('request_seconds_sum{operation="search"} 0.05');
  });
});
