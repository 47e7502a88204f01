import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { TableBox } from './table-box.js';

interface ColumnsProps {
  /** Headings; '' for a column of buttons. */
  readonly heads: readonly string[];
  readonly label: string;
  readonly children: ReactNode;
  readonly minWidth?: number;
}

/** A table with its own horizontal scrolling, also by keyboard. */
export function Columns({ heads, label, children, minWidth = 480 }: ColumnsProps) {
  return (
    <TableBox minWidth={minWidth}>
      <Table aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {heads.map((head, index) =>
              head === '' ? <Table.Td key={index} /> : <Table.Th key={index}>{head}</Table.Th>,
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </TableBox>
  );
}
