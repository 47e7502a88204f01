import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

interface TableBoxProps {
  /** Pixels, below which what is in it is scrolled sideways. */
  readonly minWidth: number;
  readonly children: ReactNode;
}

/** Around a table that is scrolled by itself where it is too wide, also by keyboard; a shade at its edge says that there is more. */
export function TableBox({ minWidth, children }: TableBoxProps) {
  return (
    <Table.ScrollContainer className="wide" type="native" minWidth={minWidth} tabIndex={0}>
      {children}
    </Table.ScrollContainer>
  );
}
