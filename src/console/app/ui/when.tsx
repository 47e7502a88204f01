import { time } from './format.js';

interface WhenProps {
  /** Nothing of it is known where it is null or undefined. */
  readonly iso: string | null | undefined;
}

/** A moment in the reader's own time zone; the same in UTC, as logs and the API have it, for who points at it. */
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

/** A cell of a table of such moments. */
export function WhenCell({ getValue }: { readonly getValue: () => unknown }) {
  return <When iso={getValue() as string | null} />;
}
