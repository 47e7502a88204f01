import { Pagination } from '@mantine/core';
import { text } from '../../messages/index.js';

interface HitPagesProps {
  readonly total: number;
  /** Number of hits per page. */
  readonly size: number;
  /** Number of hits before this page. */
  readonly skip: number;
  readonly onSkip: (skip: number) => void;
}

/** Leads to the other pages of hits. Nothing if there are none. */
export function HitPages({ total, size, skip, onSkip }: HitPagesProps) {
  if (size === 0 || total <= size) return null;
  return (
    <Pagination
      total={Math.ceil(total / size)}
      value={Math.floor(skip / size) + 1}
      onChange={(page) => {
        onSkip((page - 1) * size);
      }}
      getControlProps={(control) => ({ 'aria-label': text.common.pages[control] })}
      getItemProps={(number) => ({ 'aria-label': text.common.page(number) })}
    />
  );
}
