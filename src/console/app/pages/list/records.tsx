import { Anchor, Button, Group, Table, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
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
import { shown } from '../../ui/format.js';
import { Section } from '../../ui/page.js';
import { DeleteMatching } from './delete-matching.js';
import { ExportButton } from './export-records.js';
import { ImportButton } from './import-records.js';
import { useList, useListParams } from './list-frame.js';
import { RecordEditor } from './record-editor.js';

/** A page ends at what comes first, so that records of megabytes do not make it slow. */
const SIZE = 50;
const BYTES_MAX = 500_000;
const COLUMNS_MAX = 6;

type Listed = SearchResultListOutput['results'][number];

/** All records, page by page in the order in which they are stored. */
export function Records() {
  const params = useListParams();
  const may = useMay();
  const { after, record } = useSearch({ from: '/$account/list/$list/records' });
  const [isAdding, setAdding] = useState(false);
  const navigate = useNavigate();
  const show = (id: string | undefined): void => {
    setAdding(false);
    const search = { ...(after === undefined ? {} : { after }), ...(id === undefined ? {} : { record: id }) };
    void navigate({ to: '/$account/list/$list/records', params, search });
  };
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
                setAdding(true);
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
      <RecordTable after={after} onShow={show} />
      {isAdding || record !== undefined ? (
        <RecordEditor
          id={isAdding ? undefined : record}
          onClose={() => {
            show(undefined);
          }}
        />
      ) : null}
    </Section>
  );
}

interface RecordTableProps {
  readonly after: string | undefined;
  readonly onShow: (id: string) => void;
}

function RecordTable({ after, onShow }: RecordTableProps) {
  const params = useListParams();
  const query = { size: SIZE, bytes_max: BYTES_MAX, ...(after === undefined ? {} : { after }) };
  const { data } = useSuspenseQuery(reading(searchResultList, { params, query }));
  const columns = useColumns();
  if (data.results.length === 0) return <Text c="dimmed">{text.records.none}</Text>;
  return (
    <>
      <Table.ScrollContainer minWidth={720} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{text.records.name}</Table.Th>
              {columns.map((name) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
              <Table.Th>{text.records.modified}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.results.map((record) => (
              <RecordRow key={record.id} record={record} columns={columns} onShow={onShow} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
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

/** The fields that a person would look for first. */
function useColumns(): readonly string[] {
  const { searchable_fields, facets } = useList();
  const names = new Set([...searchable_fields, ...facets].map(({ name }) => name));
  names.delete('name');
  return [...names].slice(0, COLUMNS_MAX);
}

interface RecordButtonProps {
  /** Null: it cannot be read. */
  readonly id: string | null;
  readonly children?: string;
  readonly onShow: (id: string) => void;
}

function RecordButton({ id, children = id ?? '', onShow }: RecordButtonProps) {
  if (id === null) return null;
  return (
    <Anchor
      component="button"
      type="button"
      ta="left"
      onClick={() => {
        onShow(id);
      }}
    >
      {children}
    </Anchor>
  );
}

interface RecordRowProps {
  readonly record: Listed;
  readonly columns: readonly string[];
  readonly onShow: (id: string) => void;
}

function RecordRow({ record, columns, onShow }: RecordRowProps) {
  if (!('fields' in record)) {
    return (
      <Table.Tr>
        <Table.Td colSpan={columns.length + 2}>
          <RecordButton id={record.id} onShow={onShow} /> {record.error}
        </Table.Td>
      </Table.Tr>
    );
  }
  return (
    <Table.Tr>
      <Table.Td miw={140} maw={360} style={{ overflowWrap: 'anywhere' }} dir="auto">
        <RecordButton id={record.id} onShow={onShow}>
          {shown(record.name)}
        </RecordButton>
      </Table.Td>
      {columns.map((name) => (
        <Table.Td key={name}>
          <Text size="sm" lineClamp={2} dir="auto" miw="12ch" style={{ overflowWrap: 'anywhere' }}>
            {shown(record.fields[name])}
          </Text>
        </Table.Td>
      ))}
      <Table.Td>
        <Ago iso={record.modified_utc} />
      </Table.Td>
    </Table.Tr>
  );
}
