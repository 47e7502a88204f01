import { Autocomplete, Box, Button, Group as Row, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import type { SearchState } from '../../page-state.js';
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
import { CopyAs } from '../list/copy-as.js';
import { FacetCounts } from '../list/facet-counts.js';
import { Hit } from '../list/hit.js';
import { HitPages } from '../list/hit-pages.js';
import { bodyOf, changed, sizeOf, withinAnswer } from '../list/search-body.js';
import { FoldedOptions } from '../list/search-options.js';
import { PictureBox } from '../search/picture-box.js';
import { pictureFieldsOf } from '../search/picture-search.js';
import { linkIn, PICTURE, readingByPicture, type Picture } from '../search/picture.js';
import { useGroupFields, useMembers } from './group-fields.js';

const DAYS = 30;
/** Lists that are named below the title. */
const MEMBERS_SHOWN = 10;

/** Page of a group: a search over all its lists, and an analytics report. */
export function GroupPage() {
  const { account = '', group = '' } = useParams({ strict: false });
  const may = useMay();
  const members = useMembers(account, group);
  const shown = members.slice(0, MEMBERS_SHOWN);
  const lead = text.groups.searched(shown.join(', '), members.length - shown.length);
  return (
    <Page title={group} lead={members.length === 0 ? undefined : lead}>
      <GroupSearch params={{ account, group, version: 'latest' }} />
      {may(analyticsGroup) ? <GroupReport params={{ account, group }} /> : null}
    </Page>
  );
}

interface GroupSearchProps {
  readonly params: { readonly account: string; readonly group: string; readonly version: string };
}

function GroupSearch({ params }: GroupSearchProps) {
  const { days: _, ...options } = useSearch({ from: '/$account/group/$group' });
  const navigate = useNavigate();
  const [file, setFile] = useState<File>();
  const picture = file ?? linkIn(options);
  const set = (change: SearchState): void => {
    void navigate({
      to: '/$account/group/$group',
      params,
      search: (old) => changed(old, { ...('skip' in change ? {} : { skip: undefined }), ...change }),
    });
  };
  const searchBy = (wanted: Picture | undefined): void => {
    setFile(wanted instanceof File ? wanted : undefined);
    set({ [PICTURE]: typeof wanted === 'string' ? wanted : undefined });
  };
  return (
    <Stack>
      {picture === undefined ? <QueryForm params={params} options={options} onChange={set} /> : null}
      <PictureBox picture={picture} onPicture={searchBy} />
      <GroupPreview params={params} options={options} picture={picture} onChange={set} onLike={searchBy} />
    </Stack>
  );
}

interface QueryFormProps extends GroupSearchProps {
  readonly options: SearchState;
  readonly onChange: (change: SearchState) => void;
}

function QueryForm({ params, options, onChange }: QueryFormProps) {
  const [entry, setEntry] = useState(String(options['query'] ?? ''));
  const proposals = useProposals(params, entry);
  return (
    <form
      aria-label={text.groups.search}
      onSubmit={(event) => {
        event.preventDefault();
        onChange({ query: entry });
      }}
    >
      <Row align="flex-end">
        <Autocomplete
          label={text.search.query}
          style={{ flex: 1, minWidth: 200, maxWidth: 480 }}
          data={proposals}
          filter={({ options: found }) => found}
          value={entry}
          onChange={setEntry}
        />
        <Button type="submit">{text.groups.search}</Button>
        <CopyAs
          path={`/search/group/${params.account}/${params.group}/${params.version}`}
          content={{ json: bodyOf(options) }}
        />
      </Row>
    </form>
  );
}

interface GroupPreviewProps extends QueryFormProps {
  readonly picture: Picture | undefined;
  readonly onLike: (link: string) => void;
}

/** The options beside what they find. */
function GroupPreview({ params, options, picture, onChange, onLike }: GroupPreviewProps) {
  const fields = useGroupFields(params.account, params.group);
  const found = useFoundInGroup(params, options, picture);
  return (
    <div className="preview">
      <FoldedOptions list={fields} options={options} picture={picture} onChange={onChange} />
      <Stack>
        <Problem error={found.error} />
        {found.isLoading ? <Box className="awaited" /> : null}
        {found.data === undefined || found.isError ? null : (
          <FoundInGroup
            account={params.account}
            found={found.data}
            options={options}
            onChange={onChange}
            onLike={onLike}
          />
        )}
      </Stack>
    </div>
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

/** A group is searched once something is asked for: its page also shows the report, in which each search counts. */
function useFoundInGroup(params: GroupSearchProps['params'], options: SearchState, picture: Picture | undefined) {
  const body = bodyOf(options);
  const isAsked = Object.keys(body).some((name) => name !== 'size' && name !== 'skip');
  const byWords = useQuery({
    ...reading(searchGroup, { params, body: withinAnswer(body) }),
    placeholderData: keepPreviousData,
    enabled: isAsked && picture === undefined,
  });
  const byPicture = useQuery(readingByPicture(searchImageGroup, params, { picture, options: withinAnswer(body) }));
  return picture === undefined ? byWords : byPicture;
}

interface FoundInGroupProps {
  readonly account: string;
  readonly found: SearchGroupOutput;
  readonly options: SearchState;
  readonly onChange: (change: SearchState) => void;
  readonly onLike: (link: string) => void;
}

function FoundInGroup({ account, found, options, onChange, onLike }: FoundInGroupProps) {
  const { total_count, took_ms, results, facets } = found;
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
      {facets === undefined ? null : (
        <FacetCounts
          facets={facets}
          filter={String(options['filter'] ?? '')}
          onFilter={(filter) => {
            onChange({ filter });
          }}
        />
      )}
      <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: 'none' }} aria-label={text.search.hits}>
        {results.map((hit) => {
          const list = hit.list_name ?? '';
          const pictures = { fields: fieldsOf(list), onLike };
          return <Hit key={hit.id} hit={hit} account={account} list={list} pictures={pictures} />;
        })}
      </Stack>
      <HitPages
        total={total_count}
        size={sizeOf(options)}
        skip={Number(options['skip'] ?? 0)}
        onSkip={(skip) => {
          onChange({ skip });
        }}
      />
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
