import { Anchor, Box, Button, Group, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { text } from '../../messages/index.js';
import {
  searchResultBulk,
  searchResultCreate,
  searchResultDeleteMatching,
  searchResultList,
  type SearchResultListOutput,
} from '../../service/client.js';
import { reading } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { Ago } from '../../ui/ago.js';
import { columnHelper, DataTable } from '../../ui/data-table.js';
import { Empty } from '../../ui/empty.js';
import { shown } from '../../ui/format.js';
import { Section } from '../../ui/page.js';
import { DeleteMatching } from './delete-matching.js';
import { ExportButton } from './export-records.js';
import { ImportButton } from './import-records.js';
import { useList, useListParams } from './list-frame.js';
import { RecordEditor } from './record-editor.js';

/** A page ends at the first limit reached, so that huge records do not make it slow. */
const SIZE = 50;
const BYTES_MAX = 500_000;
const COLUMNS_MAX = 6;

type Listed = SearchResultListOutput['results'][number];

/** All records, page by page in storage order. */
export function Records() {
  const may = useMay();
  const { after, record, add } = useSearch({ from: '/$account/list/$list/records' });
  // Anybody may open the address, with or without the permission.
  const adds = add === true && may(searchResultCreate);
  const show = useShow();
  return (
    <Section
      title={text.list.records}
      lead={text.records.lead}
      actions={
        <>
          {may(searchResultCreate) ? (
            <Button
              size="xs"
              onClick={() => {
                show({ add: true });
              }}
            >
              {text.records.add}
            </Button>
          ) : null}
          {may(searchResultBulk) ? <ImportButton /> : null}
          <ExportButton />
          {may(searchResultDeleteMatching) ? <DeleteMatching /> : null}
        </>
      }
    >
      <RecordTable after={after} />
      {adds || record !== undefined ? (
        <RecordEditor
          id={adds ? undefined : record}
          onClose={() => {
            show({});
          }}
        />
      ) : null}
    </Section>
  );
}

/** Opens a record, or a new one, over the current page of records. `{}` closes it. */
function useShow(): (what: { readonly record?: string; readonly add?: true }) => void {
  const params = useListParams();
  const { after } = useSearch({ from: '/$account/list/$list/records' });
  const navigate = useNavigate();
  return (what) => {
    const search = { ...(after === undefined ? {} : { after }), ...what };
    void navigate({ to: '/$account/list/$list/records', params, search, resetScroll: false });
  };
}

interface RecordTableProps {
  readonly after: string | undefined;
}

function RecordTable({ after }: RecordTableProps) {
  const params = useListParams();
  const query = { size: SIZE, bytes_max: BYTES_MAX, ...(after === undefined ? {} : { after }) };
  const { data } = useSuspenseQuery(reading(searchResultList, { params, query }));
  const columns = useColumns();
  if (data.results.length === 0) return <Empty step={searchResultCreate}>{text.records.none}</Empty>;
  return (
    <>
      <DataTable
        label={text.list.records}
        items={data.results}
        columns={columns}
        keyOf={({ id }) => id ?? ''}
        minWidth={720}
      />
      <Group>
        {after === undefined ? null : (
          <Anchor component={Link} to="/$account/list/$list/records" params={params as never} search={{} as never}>
            {text.records.first}
          </Anchor>
        )}
        {data.next === undefined ? null : (
          <Anchor
            component={Link}
            to="/$account/list/$list/records"
            params={params as never}
            search={{ after: data.next } as never}
          >
            {text.records.next}
          </Anchor>
        )}
      </Group>
    </>
  );
}

const column = columnHelper<Listed>();

/** Undefined for a record that cannot be read. */
function valueOf(record: Listed, name: string): unknown {
  return 'fields' in record ? record.fields[name] : undefined;
}

/** Columns: name, most useful fields, and modification time. */
function useColumns() {
  const { searchable_fields, facets } = useList();
  return useMemo(() => {
    const names = new Set([...searchable_fields, ...facets].map(({ name }) => name));
    names.delete('name');
    return [
      column.display({
        id: 'name',
        header: text.records.name,
        cell: ({ row }) => <RecordName record={row.original} />,
      }),
      ...[...names].slice(0, COLUMNS_MAX).map((name) =>
        column.display({
          id: `field ${name}`,
          header: name,
          cell: ({ row }) => (
            <Text size="sm" lineClamp={2} dir="auto" miw="10ch" style={{ overflowWrap: 'anywhere' }}>
              {shown(valueOf(row.original, name))}
            </Text>
          ),
        }),
      ),
      column.display({
        id: 'modified',
        header: text.records.modified,
        cell: ({ row: { original } }) => ('fields' in original ? <Ago iso={original.modified_utc} /> : null),
      }),
    ];
  }, [searchable_fields, facets]);
}

interface RecordButtonProps {
  /** Null if the record cannot be read. */
  readonly id: string | null;
  readonly children?: string;
}

function RecordButton({ id, children = id ?? '' }: RecordButtonProps) {
  const show = useShow();
  if (id === null) return null;
  return (
    <Anchor
      component="button"
      type="button"
      inherit
      ta="left"
      style={{ overflowWrap: 'anywhere' }}
      lineClamp={3}
      onClick={() => {
        show({ record: id });
      }}
    >
      {children}
    </Anchor>
  );
}

function RecordName({ record }: { readonly record: Listed }) {
  if (!('fields' in record)) {
    return (
      <Text size="sm">
        <RecordButton id={record.id} /> {record.error}
      </Text>
    );
  }
  return (
    <Box miw={120} maw={360} dir="auto">
      <RecordButton id={record.id}>{shown(record.name)}</RecordButton>
    </Box>
  );
}
