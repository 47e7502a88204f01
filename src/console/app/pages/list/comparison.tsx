import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { text } from '../../messages/index.js';
import type { SearchState } from '../../page-state.js';
import { count } from '../../ui/format.js';
import { useIsNarrow } from '../../ui/narrow.js';
import { Problem } from '../../ui/problem.js';
import { Hit } from './hit.js';
import { useList, useListParams } from './list-frame.js';
import { movesOf, type Move } from './moves.js';
import { SearchOptions } from './search-options.js';
import { useFound } from './use-found.js';

interface ComparisonProps {
  readonly first: SearchState;
  readonly second: SearchState;
  /** Called with the changes. */
  readonly onFirst: (change: SearchState) => void;
  readonly onSecond: (change: SearchState) => void;
  readonly onEnd: () => void;
}

/** The same text searched in two ways, side by side, with the differences. */
export function Comparison({ first, second, onFirst, onSecond, onEnd }: ComparisonProps) {
  const [before, after] = [useFound({ ...first, skip: undefined }), useFound({ ...second, skip: undefined })];
  const [left, right] = [idsOf(before), idsOf(after)];
  return (
    <Stack>
      <Group justify="space-between">
        <Text role="status">{summaryOf(left, right)}</Text>
        <Button variant="default" size="xs" onClick={onEnd}>
          {text.compare.end}
        </Button>
      </Group>
      <div className="compared">
        <Side label={text.compare.first} options={first} found={before} others={right} onChange={onFirst} />
        <Side label={text.compare.second} options={second} found={after} others={left} isAfter onChange={onSecond} />
      </div>
    </Stack>
  );
}

type Found = ReturnType<typeof useFound>;

const idsOf = ({ data }: Found): readonly string[] => data?.results.map(({ id }) => id) ?? [];

function summaryOf(before: readonly string[], after: readonly string[]): string {
  const moves = [...movesOf(before, after).values()];
  const of = (kind: Move['kind']): string => count(moves.filter((move) => move.kind === kind).length);
  const gone = before.filter((id) => !after.includes(id)).length;
  return text.compare.summary(of('same'), of('moved'), of('new'), count(gone));
}

interface SideProps {
  readonly label: string;
  readonly options: SearchState;
  readonly found: Found;
  /** Ids of the other side's hits. */
  readonly others: readonly string[];
  /** True for the side to which hits move. */
  readonly isAfter?: boolean;
  readonly onChange: (change: SearchState) => void;
}

function Side({ label, options, found, others, isAfter = false, onChange }: SideProps) {
  const list = useList();
  const place = useListParams();
  const moves = movesOf(others, idsOf(found));
  const isNarrow = useIsNarrow();
  const moved = (id: string): Move => moves.get(id) ?? { kind: 'same' };
  return (
    <Stack component="section" gap="sm" aria-label={label}>
      <details open={!isNarrow}>
        <summary>{label}</summary>
        <SearchOptions label={text.compare.optionsOf(label)} list={list} options={options} onChange={onChange} />
      </details>
      <Problem error={found.error} />
      {found.data === undefined || found.isError ? null : (
        <>
          <Text size="sm" c="dimmed">
            {text.search.found(count(found.data.total_count), found.data.took_ms.toFixed(1))}
          </Text>
          <Stack
            component="ol"
            gap="sm"
            p={0}
            m={0}
            style={{ listStyle: 'none' }}
            aria-label={`${text.search.hits}: ${label}`}
          >
            {found.data.results.map((hit) => (
              <Hit key={hit.id} hit={hit} {...place} mark={<MoveBadge move={moved(hit.id)} isAfter={isAfter} />} />
            ))}
          </Stack>
        </>
      )}
    </Stack>
  );
}

/** On the first side, marks hits that the other side lacks. On the second, marks new hits and how far others moved. */
function MoveBadge({ move, isAfter }: { readonly move: Move; readonly isAfter: boolean }) {
  if (move.kind === 'new') {
    return (
      <Badge variant="light" color={isAfter ? 'green' : 'red'}>
        {isAfter ? text.compare.new : text.compare.gone}
      </Badge>
    );
  }
  if (move.kind === 'same' || !isAfter) return null;
  return (
    <Badge variant="light" color={move.places > 0 ? 'blue' : 'orange'}>
      {move.places > 0 ? text.compare.up(move.places) : text.compare.down(-move.places)}
    </Badge>
  );
}
