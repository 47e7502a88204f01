import { Anchor, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import { relatedList } from '../../service/client.js';
import { reading } from '../../service/queries.js';
import { Problem } from '../../ui/problem.js';
import { useList, useListParams } from './list-frame.js';

const SIZE = 8;

/** Records similar to this one, read on demand. */
export function RelatedRecords({ record }: { readonly record: string }) {
  const params = useListParams();
  const { current_version } = useList();
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useQuery({
    ...reading(relatedList, {
      params: { ...params, version: String(current_version), record },
      query: { size: SIZE, select: 'name' },
    }),
    enabled: isOpen,
  });
  return (
    <details
      onToggle={({ currentTarget: { open } }) => {
        setOpen(open);
      }}
    >
      <summary>{text.records.related}</summary>
      <Problem error={error} />
      {data?.results.length === 0 ? <Text c="dimmed">{text.records.noneRelated}</Text> : null}
      <Stack component="ul" gap={4} mt="xs" aria-label={text.records.related}>
        {(data?.results ?? []).map(({ id, name }) => (
          <li key={id}>
            <Anchor
              component={Link}
              to="/$account/list/$list/records"
              params={params as never}
              search={{ record: id } as never}
              style={{ overflowWrap: 'anywhere' }}
            >
              {name}
            </Anchor>
          </li>
        ))}
      </Stack>
    </details>
  );
}
