import { Autocomplete, Box, Button, Group as Row, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import type { GroupState } from '../../page-state.js';
import {
  analyticsGroup,
  listRead,
  searchGroup,
  searchImageGroup,
  suggestGroup,
  type SearchGroupOutput,
} from '../../service/client.js';
import { reading } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { count } from '../../ui/format.js';
import { Page } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { firstDay, Report } from '../../ui/report.js';
import { Hit } from '../list/hit.js';
import { HitPages } from '../list/hit-pages.js';
import { SIZE, withinAnswer } from '../list/search-body.js';
import { PictureBox } from '../search/picture-box.js';
import { pictureFieldsOf } from '../search/picture-search.js';
import { readingByPicture, type Picture } from '../search/picture.js';

const DAYS = 30;

/** Page of a group: a search over all its lists, and an analytics report. */
export function GroupPage() {
  const { account = '', group = '' } = useParams({ strict: false });
  const may = useMay();
  return (
    <Page title={group}>
      <GroupSearch params={{ account, group, version: 'latest' }} />
      {may(analyticsGroup) ? <GroupReport params={{ account, group }} /> : null}
    </Page>
  );
}

interface GroupSearchProps {
  readonly params: { readonly account: string; readonly group: string; readonly version: string };
}

function GroupSearch({ params }: GroupSearchProps) {
  const { query = '', picture: link, skip = 0 } = useSearch({ from: '/$account/group/$group' });
  const navigate = useNavigate();
  const [entry, setEntry] = useState(query);
  const [file, setFile] = useState<File>();
  const picture = file ?? link;
  const searchBy = (wanted: Picture | undefined): void => {
    setFile(wanted instanceof File ? wanted : undefined);
    const search = ({ picture: _, skip: __, ...others }: GroupState): GroupState =>
      typeof wanted === 'string' ? { ...others, picture: wanted } : others;
    void navigate({ to: '/$account/group/$group', params, search });
  };
  const proposals = useProposals(params, entry);
  const found = useFoundInGroup(params, { query, skip }, picture);
  return (
    <Stack>
      {picture !== undefined ? null : (
        <form
          aria-label={text.groups.search}
          onSubmit={(event) => {
            event.preventDefault();
            void navigate({
              to: '/$account/group/$group',
              params,
              search: ({ skip: _, ...old }) => ({ ...old, query: entry }),
            });
          }}
        >
          <Row align="flex-end">
            <Autocomplete
              label={text.search.query}
              style={{ flex: 1, minWidth: 200, maxWidth: 480 }}
              data={proposals}
              filter={({ options }) => options}
              value={entry}
              onChange={setEntry}
            />
            <Button type="submit">{text.groups.search}</Button>
          </Row>
        </form>
      )}
      <PictureBox picture={picture} onPicture={searchBy} />
      <Problem error={found.error} />
      {found.isLoading ? <Box className="awaited" /> : null}
      {found.data === undefined || found.isError ? null : (
        <>
          <FoundInGroup account={params.account} found={found.data} onLike={searchBy} />
          <HitPages
            total={found.data.total_count}
            size={SIZE}
            skip={skip}
            onSkip={(next) =>
              void navigate({ to: '/$account/group/$group', params, search: (old) => ({ ...old, skip: next }) })
            }
          />
        </>
      )}
    </Stack>
  );
}

/** Suggestions in the lists of the group: earlier searches and names of records. */
function useProposals(params: GroupSearchProps['params'], query: string): string[] {
  const { data } = useQuery({
    ...reading(suggestGroup, { params, body: { query } }),
    placeholderData: keepPreviousData,
    enabled: query !== '',
  });
  return query === '' ? [] : [...new Set(data?.suggestions.map(({ text: proposed }) => proposed))];
}

function useFoundInGroup(
  params: GroupSearchProps['params'],
  { query, skip }: { readonly query: string; readonly skip: number },
  picture: Picture | undefined,
) {
  const byWords = useQuery({
    ...reading(searchGroup, { params, body: withinAnswer({ query, skip }) }),
    placeholderData: keepPreviousData,
    enabled: query !== '' && picture === undefined,
  });
  const byPicture = useQuery(readingByPicture(searchImageGroup, params, { picture, options: withinAnswer({ skip }) }));
  return picture === undefined ? byWords : byPicture;
}

interface FoundInGroupProps {
  readonly account: string;
  readonly found: SearchGroupOutput;
  readonly onLike: (link: string) => void;
}

function FoundInGroup({ account, found: { total_count, took_ms, results }, onLike }: FoundInGroupProps) {
  const names = [...new Set(results.map(({ list_name }) => list_name ?? ''))];
  const may = useMay();
  const lists = useQueries({
    queries: names.map((list) => ({ ...reading(listRead, { params: { account, list } }), enabled: may(listRead) })),
  });
  const fieldsOf = (name: string): readonly string[] => {
    const list = lists[names.indexOf(name)]?.data;
    return list === undefined ? [] : pictureFieldsOf(list);
  };
  return (
    <>
      <Text role="status" size="sm" c="dimmed">
        {text.search.found(count(total_count), took_ms.toFixed(1))}
      </Text>
      {total_count === 0 ? <Text>{text.groups.noHits}</Text> : null}
      <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: 'none' }} aria-label={text.search.hits}>
        {results.map((hit) => {
          const list = hit.list_name ?? '';
          const pictures = { fields: fieldsOf(list), onLike };
          return <Hit key={hit.id} hit={hit} account={account} list={list} pictures={pictures} />;
        })}
      </Stack>
    </>
  );
}

interface GroupReportProps {
  readonly params: { readonly account: string; readonly group: string };
}

function GroupReport({ params }: GroupReportProps) {
  const { days = DAYS } = useSearch({ from: '/$account/group/$group' });
  const navigate = useNavigate();
  const { data, error } = useQuery(reading(analyticsGroup, { params, query: { from: firstDay(days) } }));
  if (data === undefined) return <Problem error={error} />;
  return (
    <Report
      report={data}
      days={days}
      onDays={(chosen) =>
        void navigate({ to: '/$account/group/$group', params, search: (old) => ({ ...old, days: chosen }) })
      }
    />
  );
}
