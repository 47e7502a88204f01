import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import { searchResultDocumentText, type SearchResultDocumentTextOutput } from '../../service/client.js';
import { reading } from '../../service/queries.js';
import { FileLink } from '../../ui/file-link.js';
import { count } from '../../ui/format.js';
import { Problem } from '../../ui/problem.js';
import { useList, useListParams } from './list-frame.js';

/** Interval of reading the state while a file is being read. */
const READ_MS = 2_000;

type RecordDocument = SearchResultDocumentTextOutput['documents'][number];

interface RecordDocumentsProps {
  /** Name of the record. */
  readonly record: string;
}

/** Text of a record's linked documents, page by page. */
export function RecordDocuments({ record }: RecordDocumentsProps) {
  const { resources, model } = useList();
  if (model === null || !resources.some(({ kind }) => kind === 'document')) return null;
  return <ReadDocuments record={record} />;
}

function ReadDocuments({ record }: RecordDocumentsProps) {
  const params = useListParams();
  const [page, setPage] = useState(1);
  const { data, error } = useQuery({
    ...reading(searchResultDocumentText, {
      params: { ...params, record },
      query: { first_page: page, max_pages: 1 },
    }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.documents.some((document) => document.state === 'pending') === true ? READ_MS : false,
  });
  const documents = data?.documents ?? [];
  const pages = Math.max(0, ...documents.map(({ page_count }) => page_count));
  return (
    <Stack component="section" gap="sm" mt="xl" aria-label={text.documents.title}>
      <Title order={2} size="h5">
        {text.documents.title}
      </Title>
      <Problem error={error} />
      {data !== undefined && documents.length === 0 ? <Text c="dimmed">{text.documents.none}</Text> : null}
      {documents.map((document) => (
        <DocumentPage key={`${document.field} ${document.url}`} document={document} page={page} />
      ))}
      {pages <= 1 ? null : <Turning page={page} pages={pages} onPage={setPage} />}
    </Stack>
  );
}

interface DocumentPageProps {
  readonly document: RecordDocument;
  readonly page: number;
}

function DocumentPage({ document, page }: DocumentPageProps) {
  const { field, url, state, page_count, pages, error } = document;
  const [shown] = pages;
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {field}
        </Text>
        <Badge variant="light" color={error === undefined ? 'gray' : 'red'}>
          {error === undefined ? text.documents.states[state] : text.documents.faults[error]}
        </Badge>
        {page_count === 0 ? null : (
          <Text size="sm" c="dimmed">
            {text.documents.pages(count(page_count))}
          </Text>
        )}
      </Group>
      <Text size="sm">
        <FileLink url={url}>{url}</FileLink>
      </Text>
      {page_count === 0 ? null : (
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }} data-page={shown?.page}>
          {shown === undefined || shown.text === '' ? text.documents.noText(page) : shown.text}
        </Text>
      )}
    </Stack>
  );
}

interface TurningProps {
  readonly page: number;
  readonly pages: number;
  readonly onPage: (page: number) => void;
}

function Turning({ page, pages, onPage }: TurningProps) {
  const turn = (by: number) => () => {
    onPage(page + by);
  };
  return (
    <Group gap="sm" role="group" aria-label={text.documents.turn}>
      <Button variant="default" size="xs" disabled={page === 1} onClick={turn(-1)}>
        {text.common.pages.previous}
      </Button>
      <Text size="sm" role="status">
        {text.documents.pageOf(count(page), count(pages))}
      </Text>
      <Button variant="default" size="xs" disabled={page === pages} onClick={turn(1)}>
        {text.common.pages.next}
      </Button>
    </Group>
  );
}
