import { time } from './format.js';

interface WhenProps {
  /** Null or undefined if unknown. */
  readonly iso: string | null | undefined;
}

/** A time in the reader's time zone, with UTC, as in logs and the API, as tooltip. */
export function When({ iso }: WhenProps) {
  if (iso === null || iso === undefined) return time(iso);
  return (
    <time dateTime={iso} title={utc(iso)}>
      {time(iso)}
    </time>
  );
}

/** `2026-11-25 20:04:08 UTC`. */
export function utc(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Table cell of a time. */
export function WhenCell({ getValue }: { readonly getValue: () => unknown }) {
  return <When iso={getValue() as string | null} />;
}
