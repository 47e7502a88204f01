import { Button, Group, Text, TextInput } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useMemo, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { text } from '../messages/index.js';
import { useTextInAddress } from './text-in-address.js';

/** Shown at first, and with each step. */
const ROWS = 100;
/** Of so many one is found by looking. */
const FEW = 10;

interface FoundRows<Item> {
  readonly shown: readonly Item[];
  /** A field to look for some of them; nothing where there are few and nobody has looked for one. */
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
  // The field does not go away below whoever empties it.
  const [wasLooked, setWasLooked] = useState(looked !== '');
  const named = useNamedByForm();
  // `textOf` is the same function at each call, or one that does the same.
  const found = useMemo(
    () => (looked === '' ? items : items.filter((item) => textOf(item).toLowerCase().includes(looked))),
    [items, looked],
  );
  return {
    shown: found.filter((item, index) => index < rows || isNamed(item, named)),
    find:
      items.length <= FEW && looked === '' && !wasLooked ? null : (
        <>
          <TextInput
            label={label}
            maw={320}
            value={wanted}
            onChange={(event) => {
              setWasLooked(true);
              setWanted(event.currentTarget.value);
            }}
          />
          {found.length === 0 && looked !== '' ? <Text role="status">{text.common.noneFound}</Text> : null}
        </>
      ),
    more:
      found.length <= rows ? null : (
        <Group>
          <Button
            variant="default"
            onClick={(event) => {
              const table = tableBefore(event.currentTarget.parentElement);
              flushSync(() => {
                setRows(rows + ROWS);
              });
              // With the last of them the button is gone.
              if (found.length <= rows + ROWS) focusRow(table?.tBodies[0]?.rows[rows]);
            }}
          >
            {text.common.more}
          </Button>
        </Group>
      ),
  };
}

/** What the form in the address is of, such as `name` in `group:name`, when the page was loaded: its row is shown wherever it stands. */
function useNamedByForm(): string | undefined {
  const { form } = useSearch({ strict: false });
  const [named] = useState(() => (typeof form === 'string' ? /:(.*)$/s.exec(form)?.[1] : undefined));
  return named;
}

function isNamed(item: unknown, named: string | undefined): boolean {
  if (named === undefined || typeof item !== 'object' || item === null) return false;
  return ('name' in item && item.name === named) || ('id' in item && item.id === named);
}

function tableBefore(element: Element | null): HTMLTableElement | undefined {
  for (
    let each = element?.previousElementSibling;
    each !== null && each !== undefined;
    each = each.previousElementSibling
  ) {
    const table = each.matches('table') ? each : each.querySelector('table');
    if (table instanceof HTMLTableElement) return table;
  }
  return undefined;
}

function focusRow(row: HTMLElement | undefined): void {
  if (row === undefined) return;
  row.tabIndex = -1;
  row.focus();
}
