import { Anchor, Button, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { text } from '../../messages/index.js';
import { client, listCreate, listFeed, type FeedListOutput } from '../../service/client.js';
import { useAccount, useMay } from '../../service/session.js';
import { Problem } from '../../ui/problem.js';

interface FeedListsProps {
  readonly feed: FeedListOutput['feeds'][number];
}

/** Lists in which the records of a feed can be searched. If there is none, offers to create one. */
export function FeedLists({ feed: { name, searchable_in } }: FeedListsProps) {
  const account = useAccount();
  const may = useMay();
  const make = useListOf(name);
  if (searchable_in.length === 0) {
    return may(listCreate) && may(listFeed) ? (
      <Stack gap="xs" align="flex-start">
        <Button
          size="xs"
          aria-label={text.feeds.makeListOf(name)}
          loading={make.isPending}
          onClick={() => {
            make.mutate();
          }}
        >
          {text.feeds.makeList}
        </Button>
        <Problem error={make.error} />
      </Stack>
    ) : null;
  }
  return searchable_in.map((list) => (
    <Anchor
      key={list}
      component={Link}
      inherit
      display="block"
      to="/$account/list/$list/search"
      params={{ account, list } as never}
      style={{ overflowWrap: 'anywhere' }}
    >
      {list}
    </Anchor>
  ));
}

/** Creates a list named after the feed that follows it. The first records determine its fields. */
function useListOf(feed: string) {
  const account = useAccount();
  const navigate = useNavigate();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const params = { account, list: feed };
      await listCreate(client, { params: { account }, body: { name: feed } });
      await listFeed(client, { params, body: { feed } });
      await cache.invalidateQueries();
      await navigate({ to: '/$account/list/$list/search', params });
    },
  });
}
