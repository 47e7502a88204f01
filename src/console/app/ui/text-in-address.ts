import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';

/**
 * What somebody has typed to find something on the page: it is in the address, so that it is there when the page is loaded again or
 * sent to somebody. Each letter replaces the address: Back leads to the page before. The box does not wait for the address, which
 * follows some time after the typing.
 */
export function useTextInAddress(name: string, initial = ''): readonly [string, (entry: string) => void] {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const found = search[name];
  // What looks like a number is one in the address of who wrote it by hand.
  const addressed = typeof found === 'string' || typeof found === 'number' ? String(found) : initial;
  const [entry, setEntry] = useState(addressed);
  const following = useRef(0);
  const navigate = useNavigate();
  useEffect(() => {
    if (following.current === 0) setEntry(addressed);
  }, [addressed]);
  const set = (next: string): void => {
    setEntry(next);
    following.current += 1;
    const changed = ({ [name]: _, ...others }: Readonly<Record<string, unknown>>) =>
      next === initial ? others : { ...others, [name]: next };
    void navigate({ to: '.', search: changed as never, replace: true, resetScroll: false }).finally(() => {
      following.current -= 1;
    });
  };
  return [entry, set];
}
