import { Button, Group, Text } from '@mantine/core';
import { text } from '../../messages/index.js';
import type { SearchListOutput } from '../../service/client.js';
import { count } from '../../ui/format.js';

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

/** Adds a condition in the filter language: quotes are doubled, and names with blanks are in backticks. */
function withCondition(filter: string, name: string, value: string | number | boolean): string {
  const written = typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
  const condition = `${/^[A-Za-z_][\w-]*$/.test(name) ? name : `\`${name}\``} = ${written}`;
  if (filter === '' || filter === condition) return condition;
  return `(${filter}) and ${condition}`;
}
