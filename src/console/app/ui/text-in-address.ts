import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';

/**
 * Text of a search box, stored in the address, so that it survives a reload and can be shared. Typing replaces the
 * address, so that Back leads to the previous page. The address follows the box with a delay.
 */
export function useTextInAddress(name: string, initial = ''): readonly [string, (entry: string) => void] {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const found = search[name];
  // A text that looks like a number is parsed as one in an address written by hand.
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
