import { Anchor, Card, List, SimpleGrid, Text } from '@mantine/core';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import { apiKeyCreate, feedConnect, listCreate, listList, searchResultBulk } from '../../service/client.js';
import { readingLists } from '../../service/lists.js';
import { reading } from '../../service/queries.js';
import { useAccount, useMay, useSession } from '../../service/session.js';
import { DropZone } from '../../ui/drop-zone.js';
import { count } from '../../ui/format.js';
import { Page, Section } from '../../ui/page.js';
import { NewListFromFile } from './new-list-from-file.js';

const LISTS_SHOWN = 6;
/** Lists read at first, so that the page does not wait for all of them. */
const LISTS_AT_FIRST = 200;

/** First steps of a new account; later, an overview. */
export function Start() {
  const account = useAccount();
  const may = useMay();
  const { person } = useSession();
  const first = { params: { account }, query: { rules: false, size: LISTS_AT_FIRST } };
  const { data } = useSuspenseQuery(reading(listList, first));
  const all = useQuery({ ...readingLists(account), enabled: data.next !== undefined });
  const [file, setFile] = useState<File>();
  const mayMake = may(listCreate) && may(searchResultBulk);
  if (file !== undefined) {
    return (
      <NewListFromFile
        key={file.name}
        file={file}
        onLeave={() => {
          setFile(undefined);
        }}
      />
    );
  }
  return (
    <Page title={text.start.title} lead={leadOf({ mayMake, isEmpty: data.lists.length === 0 })}>
      {mayMake ? (
        <DropZone label={text.start.choose} accept=".csv,.tsv,.json,.ndjson,.jsonl" onFile={setFile}>
          <Text fw={600} mb={4}>
            {text.start.drop}
          </Text>
          <Text c="dimmed" size="sm" mb="md">
            {text.start.formats}
          </Text>
        </DropZone>
      ) : null}
      {data.lists.length === 0 ? <OtherWays account={account} /> : null}
      {data.lists.length === 0 ? null : <Newest account={account} lists={(all.data ?? data).lists} />}
      {person.has_password ? null : (
        <Text size="sm">
          {text.start.noPassword}{' '}
          <Anchor component={Link} to="/$account/profile" params={{ account } as never} underline="always">
            {text.profile.title}
          </Anchor>
        </Text>
      )}
    </Page>
  );
}

function leadOf({ mayMake, isEmpty }: { readonly mayMake: boolean; readonly isEmpty: boolean }): string {
  if (!mayMake) return isEmpty ? text.start.emptyToRead : text.start.leadToRead;
  return isEmpty ? text.start.emptyLead : text.start.lead;
}

/** Other ways to get records, each with a link to its form. */
function OtherWays({ account }: { readonly account: string }) {
  const may = useMay();
  const ways = [
    { to: '/$account/feeds', form: 'connect', label: text.start.ways.feed, isShown: may(feedConnect) },
    { to: '/$account/lists', form: 'new-list', label: text.start.ways.list, isShown: may(listCreate) },
    { to: '/$account/keys', form: 'new-key', label: text.start.ways.key, isShown: may(apiKeyCreate) },
  ].filter(({ isShown }) => isShown);
  if (ways.length === 0) return null;
  return (
    <Section title={text.start.otherWays}>
      <List>
        {ways.map(({ to, form, label }) => (
          <List.Item key={to}>
            <Anchor component={Link} to={to} params={{ account } as never} search={{ form } as never}>
              {label}
            </Anchor>
          </List.Item>
        ))}
      </List>
    </Section>
  );
}

interface NewestProps {
  readonly account: string;
  readonly lists: readonly { readonly name: string; readonly record_count: number; readonly modified_utc: string }[];
}

function Newest({ account, lists }: NewestProps) {
  const newest = [...lists].sort((a, b) => b.modified_utc.localeCompare(a.modified_utc)).slice(0, LISTS_SHOWN);
  return (
    <Section title={text.start.newest}>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }}>
        {newest.map(({ name, record_count }) => (
          <Card key={name} withBorder>
            <Anchor
              component={Link}
              to="/$account/list/$list/search"
              params={{ account, list: name } as never}
              fw={600}
              style={{ overflowWrap: 'anywhere' }}
            >
              {name}
            </Anchor>
            <Text size="sm" c="dimmed">
              {text.lists.records(count(record_count))}
            </Text>
          </Card>
        ))}
      </SimpleGrid>
    </Section>
  );
}
