import { Table } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { Cells, HeadRow, useDataTable, type DataTableProps } from './data-table.js';

interface LongTableProps<Item extends object> extends DataTableProps<Item> {
  readonly minWidth: number;
  /** Called when the last rows become visible. */
  readonly onEnd: () => void;
}

/** Height of a row, which has one line. */
const ROW_PIXELS = 40;
const SEEN_PIXELS = 520;
/** Rows rendered above and below the visible ones. */
const ROWS_BESIDE = 10;

/** Virtual table of thousands of rows, which renders only visible ones. Scrolls by itself, also by keyboard. */
export function LongTable<Item extends object>(props: LongTableProps<Item>) {
  const { label, named, minWidth, onEnd } = props;
  const box = useRef<HTMLDivElement>(null);
  const table = useDataTable(props);
  const { rows } = table.getRowModel();
  const headers = table.getHeaderGroups()[0]?.headers ?? [];
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLTableRowElement>({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PIXELS,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: ROWS_BESIDE,
    initialRect: { width: minWidth, height: SEEN_PIXELS },
  });
  const seen = virtualizer.getVirtualItems();
  const count = rows.length;
  const isAtEnd = (seen.at(-1)?.index ?? 0) >= count - 1;
  useEffect(() => {
    if (isAtEnd) onEnd();
  }, [isAtEnd, count, onEnd]);
  return (
    <div ref={box} className="long" role="group" aria-label={label} tabIndex={0} style={{ maxHeight: SEEN_PIXELS }}>
      <Table aria-label={label} aria-rowcount={count + 1} stickyHeader miw={minWidth}>
        <HeadRow headers={headers} />
        <Table.Tbody>
          <Space pixels={seen[0]?.start ?? 0} columns={headers.length} />
          {seen.map(({ index }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <Table.Tr key={row.id} aria-rowindex={index + 2} h={ROW_PIXELS}>
                <Cells row={row} named={named} />
              </Table.Tr>
            );
          })}
          <Space pixels={virtualizer.getTotalSize() - (seen.at(-1)?.end ?? 0)} columns={headers.length} />
        </Table.Tbody>
      </Table>
    </div>
  );
}

/** Takes the place of rows that are not rendered. */
function Space({ pixels, columns }: { readonly pixels: number; readonly columns: number }) {
  if (pixels <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height: pixels, padding: 0 }} />
    </tr>
  );
}
