/** An example of a kind of field: ISO 8601 durations such as PT1H30M, compared by their minutes. */
import type { FieldKind } from '../../../src/fields/index.js';

const DURATION = /^PT(?:(\d{1,6})H)?(?:(\d{1,6})M)?$/;

function minutes(value: unknown): number | undefined {
  const found = typeof value === 'string' && value !== 'PT' ? DURATION.exec(value) : null;
  return found === null ? undefined : Number(found[1] ?? 0) * 60 + Number(found[2] ?? 0);
}

/** Returns the shortest form: hours only if there are any. */
function written(held: number | string | boolean): string {
  const [hours, rest] = [Math.floor(Number(held) / 60), Number(held) % 60];
  return `PT${hours === 0 ? '' : `${hours}H`}${rest === 0 && hours > 0 ? '' : `${rest}M`}`;
}

export const durationKind: FieldKind<'duration'> = {
  type: 'duration',
  column: 'number',
  expected: 'a length of time such as PT1H30M',
  columnValue: minutes,
  shown: written,
  ofCell: (cell) => cell,
  filter: {
    isOrdered: true,
    expected: 'a length of time in quotes',
    unreadable: 'is no length of time; expected one such as PT1H30M',
    read: (written) => ('text' in written ? minutes(written.text) : undefined),
    ofCapture: (text) => (minutes(text) === undefined ? undefined : { kind: 'string', text }),
  },
  inference: { recognises: (value) => minutes(value) !== undefined, isFacet: () => true, isSearchable: false },
};
