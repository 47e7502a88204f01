import { Table, Text, UnstyledButton } from '@mantine/core';
import {
  createColumnHelper,
  createSortedRowModel,
  FlexRender,
  rowSortingFeature,
  sortFns,
  tableFeatures,
  useTable,
  type Header,
  type Row,
  type TableOptions,
} from '@tanstack/react-table';
import { text } from '../messages/index.js';
import { TableBox } from './table-box.js';

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel(), sortFns });

type Features = typeof features;

/**
 * Creates columns: `helper.columns([helper.accessor('name', {header: 'Name'}), …])`. Call it outside of the component.
 */
export function columnHelper<Item extends object>() {
  return createColumnHelper<Features, Item>();
}

export interface DataTableProps<Item extends object> {
  readonly label: string;
  /** Keep the same array while the items are the same; another array is sorted again. */
  readonly items: readonly Item[];
  readonly columns: TableOptions<Features, Item>['columns'];
  readonly keyOf: (item: Item) => string;
  /** Id of the column that is the row header. */
  readonly named?: string;
  /** Pixels; below, the table scrolls horizontally. */
  readonly minWidth?: number;
  /** True if all items are present, so that columns can be sorted by their heads. */
  readonly isSortable?: boolean;
}

interface ShortTableProps<Item extends object> extends DataTableProps<Item> {
  /** Number of rows shown. Undefined for all. */
  readonly rowsMax?: number;
}

/** Returns the table library's rows and columns, used by every table of the console. */
export function useDataTable<Item extends object>({ items, columns, keyOf, isSortable }: DataTableProps<Item>) {
  return useTable({
    features,
    data: items,
    columns,
    getRowId: keyOf,
    enableSorting: isSortable ?? false,
    enableMultiSort: false,
  });
}

/** A table with its own horizontal scrolling, also by keyboard. */
export function DataTable<Item extends object>(props: ShortTableProps<Item>) {
  const { label, named, minWidth = 480, rowsMax } = props;
  const table = useDataTable(props);
  return (
    <TableBox minWidth={minWidth}>
      <Table aria-label={label} highlightOnHover>
        <HeadRow headers={table.getHeaderGroups()[0]?.headers ?? []} />
        <Table.Tbody>
          {table
            .getRowModel()
            .rows.slice(0, rowsMax)
            .map((row) => (
              <Table.Tr key={row.id}>
                <Cells row={row} named={named} />
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
    </TableBox>
  );
}

export function HeadRow<Item extends object>({ headers }: { readonly headers: readonly Header<Features, Item>[] }) {
  return (
    <Table.Thead>
      <Table.Tr aria-rowindex={1}>
        {headers.map((header) => (
          <Head key={header.id} header={header} />
        ))}
      </Table.Tr>
    </Table.Thead>
  );
}

function Head<Item extends object>({ header }: { readonly header: Header<Features, Item> }) {
  const { column } = header;
  // Screen readers read a header before each cell, so a column of buttons has none.
  if (column.columnDef.header === '') return <Table.Td />;
  const title = <FlexRender header={header} />;
  if (!column.getCanSort()) return <Table.Th>{title}</Table.Th>;
  const sorted = column.getIsSorted();
  return (
    <Table.Th aria-sort={sorted === false ? 'none' : sorted === 'asc' ? 'ascending' : 'descending'}>
      <UnstyledButton
        className="sort"
        title={text.common.sort}
        onClick={() => {
          column.toggleSorting();
        }}
      >
        {title}
        <span aria-hidden data-sorted={sorted}>
          {sorted === 'desc' ? '▾' : '▴'}
        </span>
      </UnstyledButton>
    </Table.Th>
  );
}

interface CellsProps<Item extends object> {
  readonly row: Row<Features, Item>;
  readonly named: string | undefined;
}

export function Cells<Item extends object>({ row, named }: CellsProps<Item>) {
  return row.getAllCells().map((cell) =>
    cell.column.id === named ? (
      <Table.Th key={cell.id} scope="row">
        <FlexRender cell={cell} />
      </Table.Th>
    ) : (
      <Table.Td key={cell.id}>
        <FlexRender cell={cell} />
      </Table.Td>
    ),
  );
}

/** Cell for text without spaces, such as a path or an address, which may break anywhere. */
export function Wrapped({ getValue }: { readonly getValue: () => unknown }) {
  return (
    <Text span inherit style={{ overflowWrap: 'anywhere' }}>
      {getValue() as string}
    </Text>
  );
}
