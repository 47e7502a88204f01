import { Button, Group, Text } from '@mantine/core';
import { text } from '../../messages/index.js';
import type { SearchListOutput } from '../../service/client.js';
import { count } from '../../ui/format.js';
import { withCondition } from './search-body.js';

interface FacetCountsProps {
  readonly facets: NonNullable<SearchListOutput['facets']>;
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
}

/** Values with their numbers of hits. Choosing one narrows the search. */
export function FacetCounts({ facets, filter, onFilter }: FacetCountsProps) {
  return Object.entries(facets).map(([name, values]) => (
    <Group key={name} gap={6} role="group" aria-label={text.search.valuesOf(name)}>
      <Text size="sm" fw={600}>
        {name}
      </Text>
      {values.length === 0 ? (
        <Text size="sm" c="dimmed">
          {text.search.noValues}
        </Text>
      ) : null}
      {values.map(({ value, count: hits }) => (
        <Button
          key={String(value)}
          size="compact-xs"
          variant="default"
          onClick={() => {
            onFilter(withCondition(filter, name, value));
          }}
        >
          {String(value)} ({count(hits)})
        </Button>
      ))}
    </Group>
  ));
}
