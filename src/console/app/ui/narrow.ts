import { useMediaQuery } from '@mantine/hooks';

/** Same breakpoint as in the styles of two-column pages. */
const NARROW = '(max-width: 62em)';

/** True if there is room for one column only: results then come first, and options are collapsed. */
export function useIsNarrow(): boolean {
  return useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
}
