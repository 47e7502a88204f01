import { Button, Group, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { text } from '../../messages/index.js';
import {
  client,
  searchResultList,
  searchResultRead,
  ServiceProblem,
  type SearchResultListOutput,
} from '../../service/client.js';
import { count } from '../../ui/format.js';
import { saveFile } from '../../ui/save-file.js';
import { useListParams } from './list-frame.js';

/** A page ends at the first limit reached; longer records are read individually. */
const PAGE_RECORDS = 1000;
const PAGE_BYTES = 500_000;

type Listed = SearchResultListOutput['results'][number];

/** Exports all records as NDJSON, read page by page and saved as a file. */
export function ExportButton() {
  const params = useListParams();
  const running = useRef<AbortController>(undefined);
  const [records, setRecords] = useState<number>();
  const [error, setError] = useState('');
  const start = async (): Promise<void> => {
    const { signal } = (running.current = new AbortController());
    setError('');
    try {
      const parts: string[] = [];
      let after: string | undefined;
      let written = 0;
      do {
        setRecords(written);
        const query = { size: PAGE_RECORDS, bytes_max: PAGE_BYTES, ...(after === undefined ? {} : { after }) };
        const { results, next } = await searchResultList(client, { params, query }, { signal });
        for (const record of results) parts.push(`${JSON.stringify(await wholeOf(record, params, signal))}\n`);
        written += results.length;
        after = next;
      } while (after !== undefined);
      saveFile(new Blob(parts, { type: 'application/x-ndjson' }), `${params.list}.ndjson`);
    } catch (failure) {
      if (!signal.aborted) setError(failure instanceof Error ? failure.message : String(failure));
    }
    setRecords(undefined);
  };
  return (
    <Group gap="xs">
      {records === undefined ? (
        <Button variant="default" size="xs" onClick={() => void start()}>
          {text.records.export}
        </Button>
      ) : (
        <Button variant="default" size="xs" onClick={() => running.current?.abort()}>
          {text.records.exporting(count(records))}
        </Button>
      )}
      {error === '' ? null : (
        <Text role="alert" size="sm" c="red">
          {error}
        </Text>
      )}
    </Group>
  );
}

/** Reads a record again that was listed without its fields. */
async function wholeOf(record: Listed, params: ReturnType<typeof useListParams>, signal: AbortSignal): Promise<object> {
  if ('fields' in record || record.id === null) return record;
  try {
    return await searchResultRead(client, { params: { ...params, id: record.id } }, { signal });
  } catch (failure) {
    // The record is damaged; the exported line says so.
    if (failure instanceof ServiceProblem && failure.status >= 500) return record;
    throw failure;
  }
}
