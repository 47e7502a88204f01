import { useMediaQuery } from '@mantine/hooks';

/** As in the style of what has two columns. */
const NARROW = '(max-width: 62em)';

/** Whether there is room for one column alone: what is looked at comes first then, and what is chosen is folded. */
export function useIsNarrow(): boolean {
  return useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
}
