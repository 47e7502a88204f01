import { Table } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';

interface LongTableProps<Row> {
  readonly heads: readonly string[];
  readonly label: string;
  readonly minWidth: number;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Each in one line: rows are of one height. */
  readonly cellsOf: (row: Row) => readonly ReactNode[];
  /** Told when the last rows are seen. */
  readonly onEnd: () => void;
}

const ROW_PIXELS = 40;
const SEEN_PIXELS = 520;
/** Above and below those that are seen. */
const ROWS_BESIDE = 10;

/** A table of thousands of rows, of which those are in the page that are seen. It is scrolled by itself, also by keyboard. */
export function LongTable<Row>({ heads, label, minWidth, rows, keyOf, cellsOf, onEnd }: LongTableProps<Row>) {
  const [scrolled, setScrolled] = useState(0);
  const first = Math.max(0, Math.floor(scrolled / ROW_PIXELS) - ROWS_BESIDE);
  const end = Math.min(rows.length, first + Math.ceil(SEEN_PIXELS / ROW_PIXELS) + 2 * ROWS_BESIDE);
  const isAtEnd = end === rows.length;
  const count = rows.length;
  useEffect(() => {
    if (isAtEnd) onEnd();
  }, [isAtEnd, count, onEnd]);
  return (
    <div
      className="long"
      role="group"
      aria-label={label}
      tabIndex={0}
      style={{ maxHeight: SEEN_PIXELS }}
      onScroll={({ currentTarget: { scrollTop } }) => {
        setScrolled(scrollTop);
      }}
    >
      <Table aria-label={label} aria-rowcount={rows.length + 1} stickyHeader miw={minWidth}>
        <Table.Thead>
          <Table.Tr aria-rowindex={1}>
            {heads.map((head) => (
              <Table.Th key={head}>{head}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <Space rows={first} columns={heads.length} />
          {rows.slice(first, end).map((row, index) => (
            <Table.Tr key={keyOf(row)} aria-rowindex={first + index + 2} h={ROW_PIXELS}>
              {cellsOf(row).map((cell, column) => (
                <Table.Td key={heads[column]}>{cell}</Table.Td>
              ))}
            </Table.Tr>
          ))}
          <Space rows={rows.length - end} columns={heads.length} />
        </Table.Tbody>
      </Table>
    </div>
  );
}

/** In the place of rows that are not seen. */
function Space({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  if (rows === 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height: rows * ROW_PIXELS, padding: 0 }} />
    </tr>
  );
}
