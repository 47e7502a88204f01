import { Anchor, Button, Group, List, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { text } from '../../messages/index.js';
import type { SearchState } from '../../page-state.js';
import { searchableFieldCreate, searchResultCreate, synonymUpdate } from '../../service/client.js';
import { useMay } from '../../service/session.js';
import { useList, useListParams } from './list-frame.js';

/** Options that exclude records, most likely reason first. */
const NARROWING = Object.keys(text.nothing.without) as (keyof typeof text.nothing.without)[];

interface NothingFoundProps {
  readonly options: SearchState;
  readonly onChange: (change: SearchState) => void;
}

/** Possible reasons for an empty result, with a way to remove each. */
export function NothingFound({ options, onChange }: NothingFoundProps) {
  const list = useList();
  const used = NARROWING.filter((name) => narrows(name, options[name]));
  const query = String(options['query'] ?? '');
  return (
    <Stack gap="sm" component="section" aria-label={text.nothing.title}>
      <Text fw={600}>{text.nothing.title}</Text>
      {list.record_count === 0 ? <Text>{text.nothing.noRecords}</Text> : null}
      {used.length === 0 ? null : <Text>{text.nothing.narrowed}</Text>}
      {used.length === 0 ? null : (
        <Group gap="sm">
          {used.map((name) => (
            <Button
              key={name}
              size="xs"
              variant="default"
              onClick={() => {
                onChange({ [name]: undefined });
              }}
            >
              {text.nothing.without[name]}
            </Button>
          ))}
        </Group>
      )}
      {query === '' || list.record_count === 0 || used.length > 0 ? null : (
        <Text style={{ overflowWrap: 'anywhere' }}>
          {list.searchable_fields.length === 0
            ? text.nothing.noFields
            : text.nothing.inFields(list.searchable_fields.map(({ name }) => name).join(', '))}
        </Text>
      )}
      <Ways query={query} isEmpty={list.record_count === 0} />
    </Stack>
  );
}

function narrows(name: string, value: SearchState[string]): boolean {
  if (name === 'typo_tolerance') return value === false;
  if (name === 'match') return value === 'all' || value === 'phrase';
  return value !== undefined;
}

/** Links to other pages of the list. */
function Ways({ query, isEmpty }: { readonly query: string; readonly isEmpty: boolean }) {
  const params = useListParams() as never;
  const may = useMay();
  if (isEmpty) {
    return may(searchResultCreate) ? (
      <Anchor component={Link} to="/$account/list/$list/records" params={params}>
        {text.nothing.addRecords}
      </Anchor>
    ) : null;
  }
  if (query === '') return null;
  return (
    <List>
      {may(synonymUpdate) ? (
        <List.Item>
          <Anchor
            component={Link}
            to="/$account/list/$list/synonyms"
            params={params}
            search={{ term: query } as never}
            style={{ overflowWrap: 'anywhere' }}
          >
            {text.nothing.synonym(query)}
          </Anchor>
        </List.Item>
      ) : null}
      {may(searchableFieldCreate) ? (
        <List.Item>
          <Anchor component={Link} to="/$account/list/$list/fields" params={params}>
            {text.nothing.fields}
          </Anchor>
        </List.Item>
      ) : null}
    </List>
  );
}
