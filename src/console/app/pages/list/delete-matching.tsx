import { Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import { searchList, searchResultDeleteMatching, searchResultDeleteMatchingSchemas } from '../../service/client.js';
import { reading, useChange } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { count } from '../../ui/format.js';
import { Problem } from '../../ui/problem.js';
import { prose } from '../../ui/prose.js';
import { useList, useListParams } from './list-frame.js';

const TYPING_MS = 300;

/** Deletes all records that match a filter, after showing their number. */
export function DeleteMatching() {
  const params = useListParams();
  const may = useMay();
  const remove = useChange(searchResultDeleteMatching);
  const [filter, setFilter] = useState('');
  const matching = useMatching(filter);
  const records = matching.data === undefined ? undefined : count(matching.data.total_count);
  const told = records === undefined || records === '0' ? undefined : text.records.deleteCount(records);
  return (
    <ConfirmButton
      label={text.records.deleteMatching}
      // Without permission to search, the number is unknown.
      {...(may(searchList) ? { answer: told } : {})}
      question={
        <Stack gap="xs">
          <TextInput
            label={text.records.filter}
            description={prose(searchResultDeleteMatchingSchemas.query.properties.filter.description)}
            value={filter}
            required
            onChange={(event) => {
              setFilter(event.currentTarget.value);
            }}
          />
          <Problem error={filter === '' ? null : matching.error} />
          {records === undefined ? null : (
            <Text role="status" size="sm">
              {records === '0' ? text.records.deleteNone : text.records.matching(records)}
            </Text>
          )}
        </Stack>
      }
      onConfirm={async () => {
        await remove.mutateAsync({ params, query: { filter } });
        setFilter('');
      }}
    />
  );
}

/** Counts matching records, when the filter is no longer being typed. */
function useMatching(filter: string) {
  const { current_version } = useList();
  const may = useMay();
  const [typed] = useDebouncedValue(filter, TYPING_MS);
  const params = { ...useListParams(), version: String(current_version) };
  const isAsked = may(searchList) && filter !== '' && typed === filter;
  // A later page, since only first pages are counted as searches.
  const counted = useQuery({
    ...reading(searchList, { params, body: { filter: typed, size: 0, skip: 1, cache: false } }),
    enabled: isAsked,
    staleTime: 0,
  });
  return isAsked ? counted : { data: undefined, error: null };
}
