import { Button, Group, Text, TextInput } from '@mantine/core';
import { useMemo, useState, type ReactNode } from 'react';
import { text } from '../messages/index.js';
import { useTextInAddress } from './text-in-address.js';

/** Shown at first, and with each step. */
const ROWS = 100;
/** Of so many one is found by looking. */
const FEW = 10;

interface FoundRows<Item> {
  readonly shown: readonly Item[];
  /** A field to look for some of them; nothing where there are few. */
  readonly find: ReactNode;
  /** A button for those that are not shown yet. */
  readonly more: ReactNode;
}

interface FoundRowsOptions<Item> {
  readonly label: string;
  readonly textOf: (item: Item) => string;
  /** What stands for it in the address: a form of a row that was found is there again when the page is loaded again. */
  readonly place?: string;
}

/** Of rows that may be thousands, those that have a text, and a hundred at first: each has buttons and forms of its own. */
export function useFoundRows<Item>(
  items: readonly Item[],
  { label, textOf, place = 'find' }: FoundRowsOptions<Item>,
): FoundRows<Item> {
  const [wanted, setWanted] = useTextInAddress(place);
  const [rows, setRows] = useState(ROWS);
  const looked = wanted.trim().toLowerCase();
  // `textOf` is the same function at each call, or one that does the same.
  const found = useMemo(
    () => (looked === '' ? items : items.filter((item) => textOf(item).toLowerCase().includes(looked))),
    [items, looked],
  );
  return {
    shown: found.slice(0, rows),
    find:
      items.length <= FEW ? null : (
        <>
          <TextInput
            label={label}
            maw={320}
            value={wanted}
            onChange={(event) => {
              setWanted(event.currentTarget.value);
            }}
          />
          {found.length === 0 ? <Text role="status">{text.common.noneFound}</Text> : null}
        </>
      ),
    more:
      found.length <= rows ? null : (
        <Group>
          <Button
            variant="default"
            onClick={() => {
              setRows(rows + ROWS);
            }}
          >
            {text.common.more}
          </Button>
        </Group>
      ),
  };
}
