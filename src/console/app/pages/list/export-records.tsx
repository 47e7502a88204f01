import { Button, Group, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { text } from '../../messages/index.js';
import { client, searchResultList } from '../../service/client.js';
import { count } from '../../ui/format.js';
import { useListParams } from './list-frame.js';

/** At first; then as many as make an answer of this size. */
const PAGE_RECORDS = 100;
const PAGE_RECORDS_MAX = 1000;
const PAGE_CHARACTERS = 500_000;

/** All records as NDJSON, read page by page and saved as a file. */
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
      let size = PAGE_RECORDS;
      do {
        setRecords(written);
        const query = after === undefined ? { size } : { size, after };
        const page = await searchResultList(client, { params, query }, { signal });
        const part = page.results.map((record) => `${JSON.stringify(record)}\n`).join('');
        parts.push(part);
        written += page.results.length;
        size = Math.min(PAGE_RECORDS_MAX, Math.max(1, Math.floor((size * PAGE_CHARACTERS) / (part.length + 1))));
        after = page.next;
      } while (after !== undefined);
      save(new Blob(parts, { type: 'application/x-ndjson' }), `${params.list}.ndjson`);
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

function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
