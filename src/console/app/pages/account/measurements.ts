/** Parses Prometheus' text format: one sample per line, with the description in a comment before. */

export interface Measurement {
  readonly name: string;
  /** `{list="films"}`, or '' if there are none. */
  readonly labels: string;
  readonly value: number;
  readonly help: string;
}

const SAMPLE = /^([A-Za-z_:][\w:]*)(\{.*\})? (\S+)(?: \d+)?$/;
const HELP = /^# HELP (\S+) (.*)$/;

/** Returns the samples without buckets of histograms; sums and counts are included. */
export function parseMetrics(text: string): Measurement[] {
  const help = new Map<string, string>();
  return text.split('\n').flatMap((line) => {
    const comment = HELP.exec(line);
    if (comment !== null) help.set(comment[1] ?? '', comment[2] ?? '');
    const sample = SAMPLE.exec(line);
    if (sample === null) return [];
    const [, name = '', labels = '', value] = sample;
    if (name.endsWith('_bucket')) return [];
    return [
      {
        name,
        labels,
        value: Number(value),
        help: help.get(name.replace(/_(?:sum|count)$/, '')) ?? help.get(name) ?? '',
      },
    ];
  });
}
