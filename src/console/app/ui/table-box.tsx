import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

interface TableBoxProps {
  /** Pixels; below, the content scrolls horizontally. */
  readonly minWidth: number;
  readonly children: ReactNode;
}

/**
 * Container of a table with its own horizontal scrolling, also by keyboard. A shadow at the edge shows that there is
 * more.
 */
export function TableBox({ minWidth, children }: TableBoxProps) {
  return (
    <Table.ScrollContainer className="wide" type="native" minWidth={minWidth} tabIndex={0}>
      {children}
    </Table.ScrollContainer>
  );
}
