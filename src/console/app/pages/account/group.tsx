import { Button, Group as Row, Stack, Text, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import { analyticsGroup, searchGroup } from '../../service/client.js';
import { reading } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { count } from '../../ui/format.js';
import { Page } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { firstDay, Report } from '../../ui/report.js';
import { Hit } from '../list/hit.js';

const DAYS = 30;

/** One group: a search over all of its lists, and what is searched in it. */
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
  const { query = '' } = useSearch({ from: '/$account/group/$group' });
  const navigate = useNavigate();
  const [entry, setEntry] = useState(query);
  const found = useQuery({
    ...reading(searchGroup, { params, body: { query } }),
    placeholderData: keepPreviousData,
    enabled: query !== '',
  });
  return (
    <Stack>
      <form
        aria-label={text.groups.search}
        onSubmit={(event) => {
          event.preventDefault();
          void navigate({ to: '/$account/group/$group', params, search: (old) => ({ ...old, query: entry }) });
        }}
      >
        <Row align="flex-end">
          <TextInput
            type="search"
            label={text.search.query}
            value={entry}
            onChange={(event) => {
              setEntry(event.currentTarget.value);
            }}
          />
          <Button type="submit">{text.groups.search}</Button>
        </Row>
      </form>
      <Problem error={found.error} />
      {found.data === undefined ? null : (
        <>
          <Text role="status" size="sm" c="dimmed">
            {text.search.found(count(found.data.total_count), found.data.took_ms.toFixed(1))}
          </Text>
          <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: 'none' }} aria-label={text.search.hits}>
            {found.data.results.map((hit) => (
              <Hit key={hit.id} hit={hit} account={params.account} list={hit.list_name ?? ''} />
            ))}
          </Stack>
        </>
      )}
    </Stack>
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
